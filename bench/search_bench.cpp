// What the engine itself costs: a tree of 10,000 nodes loaded, selected from and edited, a told
// answer, a journal line, a whole run of 200 evaluations with answers that take no time, and rounds
// of an engineer in writing (prompts, parsing, journal) with a tree of 1000 nodes.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "engineer/written.h"
#include "os/files.h"
#include "search/recorder.h"
#include "tree/edit.h"
#include "tree/frontier.h"
#include "tree/world_model.h"
#include "unit/search/scripted.h"

namespace ksearch {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// Every third node is closed; each hangs on a random closed one.
tree::Tree big_tree(int nodes) {
  base::Random random(1);
  tree::Tree tree;
  std::vector<std::string> closed{"root"};
  for (int i = 1; i < nodes; ++i) {
    tree::Node node;
    node.id = fmt::format("node_{}", i);
    node.parent = closed[random.below(closed.size())];
    node.decision = "layout";
    node.choice = fmt::format("choice {}", i);
    node.action = {.title = fmt::format("step {}", i),
                   .description = "Tile the keys so that a tile stays in the first-level cache.",
                   .difficulty = 1 + static_cast<int>(random.below(5)),
                   .score = random.unit(),
                   .expected = random.unit(),
                   .rationale = "Each key is read once for a block of queries.",
                   .extra = nullptr};
    node.rating = 10 * random.unit();
    node.confidence = random.unit();
    if (i % 3 == 0) {
      node.solution.solution_id = fmt::format("{:016x}", i);
      node.ours.score = random.unit();
      node.ours.predicted_gain = 1 + random.unit();
      node.ours.measured_gain = 1 + random.unit();
      node.ours.cycles = 1;
      closed.push_back(node.id);
    }
    tree.insert(std::move(node));
  }
  return tree;
}

void load(benchmark::State& state) {
  const std::string text =
      base::to_text(tree::world_model_json(big_tree(static_cast<int>(state.range(0)))));
  for (auto _ : state) benchmark::DoNotOptimize(tree::load_world_model(text, "bench"));
  state.SetLabel(fmt::format("{:.1f} MB", static_cast<double>(text.size()) / 1e6));
}
BENCHMARK(load)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void write(benchmark::State& state) {
  const tree::Tree tree = big_tree(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(base::to_text(tree::world_model_json(tree)));
}
BENCHMARK(write)->Arg(10000)->Unit(benchmark::kMillisecond);

void select(benchmark::State& state, const char* strategy) {
  const tree::Tree tree = big_tree(10000);
  const auto chosen = search::make_strategy(strategy).value();
  for (auto _ : state) {
    search::View view{tree, {}, {}, "node_3", 3};
    view.frontier = tree::frontier(tree, view.rules);
    benchmark::DoNotOptimize(&chosen->pick(view, base::Random(1)));
  }
}
BENCHMARK_CAPTURE(select, ksearch, "ksearch")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(select, calibrated, "calibrated")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(select, greedy, "greedy")->Unit(benchmark::kMillisecond);

/// Three insertions, an update and three deletions: an update of the world model, undone.
void edit(benchmark::State& state) {
  tree::Tree tree = big_tree(10000);
  std::uint64_t n = 0;
  for (auto _ : state) {
    tree::EditScript script;
    for (int i = 0; i < 3; ++i) {
      const std::string id = fmt::format("new_{}", ++n);
      script.ops.push_back(search::idea(fmt::format("node_{}", 3 * (1 + n % 3000)), id));
    }
    script.ops.push_back(tree::update_op("node_5", {{"overall_rating_0_to_10", 7}}));
    for (std::uint64_t i = n - 2; i <= n; ++i) {
      script.ops.push_back({{"op", "delete_node"}, {"node_id", fmt::format("new_{}", i)}});
    }
    benchmark::DoNotOptimize(tree::apply(tree, script, {}));
  }
}
BENCHMARK(edit)->Unit(benchmark::kMillisecond);

/// One cycle (select, code, evaluate, close, revise) told to an engine whose tree has 10,000 nodes.
void cycle_in_a_big_tree(benchmark::State& state) {
  search::Engine engine = search::Engine::make(search::config()).value();
  search::Started started;
  started.world_model = tree::world_model_json(big_tree(10000));
  engine.tell({0ns, started});
  std::uint64_t n = 0;
  const auto answer = [&](auto reply) {
    engine.tell({0ns, search::Answered{engine.requests().front().id, std::move(reply)}});
  };
  for (auto _ : state) {
    while (!std::holds_alternative<engineer::CodeRequest>(engine.requests().front().what)) {
      answer(engineer::PlanReply{engineer::Nothing{}});
    }
    answer(engineer::CodeReply{search::program(fmt::format("int x = {};", ++n))});
    answer(kernel::EvaluateReply{search::measured(0.5)});
    answer(engineer::CodeReply{engineer::Exhausted{}});
  }
}
BENCHMARK(cycle_in_a_big_tree)->Unit(benchmark::kMillisecond)->Iterations(500);

/// A whole run with its journal on disk, answers that take no time: the engine's own cost.
void whole_run(benchmark::State& state) {
  const auto evaluations = state.range(0);
  for (auto _ : state) {
    const os::TempFolder temp = os::TempFolder::create("ksearch-bench").value();
    search::Config config = search::config();
    config.limits.evaluations = evaluations;
    store::RunInfo info;
    info.search = search::to_json(config);
    store::Run run = store::Run::create(temp.path() / "run", info).value();
    search::StoreRecorder recorder(&run);
    search::Scripted scripted(3, false);
    base::ManualClock clock;
    search::Engine engine = search::Engine::make(config).value();
    const search::DriverOptions options{.clock = &clock, .recorder = &recorder};
    search::Started started;
    started.root_program = search::program("naive");
    auto done =
        search::run_one_at_a_time(engine, started, search::hands(scripted, clock, 1s), options);
    if (!done || engine.spent().evaluations < evaluations / 2) state.SkipWithError("ended early");
    state.counters["per_evaluation"] = benchmark::Counter(
        static_cast<double>(engine.spent().evaluations),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  }
}
BENCHMARK(whole_run)->Arg(50)->Arg(200)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A model that takes no time: a program, nothing more for that action, a new action.
class AtOnce final : public engineer::Correspondent {
 public:
  std::string name() const override { return "at once"; }
  engineer::LetterReply ask(const engineer::Letter& letter) override {
    letters_bytes += letter.text.size();
    ++letters;
    if (letter.plan) {
      const base::Json ops{search::idea("node_3", fmt::format("new_{}", ++n_), 1)};
      return {llm::RawReply{fenced({{"ops", ops}})}};
    }
    if (letter.kind == "improve") return {llm::RawReply{fenced({{"exhausted", "no more"}})}};
    const base::Json launch{
        {"kernel", "copy"}, {"groups", {"1"}}, {"args", {"x", "y", {{"i64", "n"}}}}};
    return {llm::RawReply{fmt::format("```cpp copy.cpp\nint variant = {};\n```\n\n", ++n_) +
                          fenced({{"launches", {launch}}})}};
  }
  std::size_t letters = 0, letters_bytes = 0;

 private:
  static std::string fenced(const base::Json& json) {
    return "```json\n" + base::to_line(json) + "\n```\n";
  }
  std::uint64_t n_ = 0;
};

engineer::Prompts prompts() {
  engineer::Brief brief;
  brief.definition = search::copy_task();
  brief.device.name = "made up";
  brief.device.kind = "cpu";
  brief.example = search::program("int variant = 0;");
  return engineer::Prompts::load(fs::path(KSEARCH_SOURCE_DIR) / "knowledge/prompts", brief).value();
}

/// A round is an evaluation with all the questions that belong to it, and their journal in `where`.
void round_in_writing(benchmark::State& state, const char* where) {
  constexpr std::int64_t kRounds = 50;
  const engineer::Prompts asked = prompts();
  search::Started started;
  started.world_model = tree::world_model_json(big_tree(1000));
  started.root_program = search::program("int variant = 0;");
  AtOnce at_once;
  for (auto _ : state) {
    const os::TempFolder temp = os::TempFolder::create("ksearch-bench", where).value();
    search::Config config = search::config();
    config.limits.evaluations = kRounds;
    store::RunInfo info;
    info.search = search::to_json(config);
    store::Run run = store::Run::create(temp.path() / "run", info).value();
    search::StoreRecorder recorder(&run);
    const base::ManualClock clock;
    engineer::WrittenPlanner planner(&asked, &at_once);
    engineer::WrittenCoder coder(&asked, &search::copy_task(), &at_once);
    const search::Hands hands{
        &planner, &coder, [](const auto&, const auto&) { return search::measured(0.5); },
        [](const auto&, const auto&) -> search::CertifyReply { return search::certificate(true); }};
    search::Engine engine = search::Engine::make(config).value();
    const search::DriverOptions options{.clock = &clock, .recorder = &recorder};
    const auto done = search::run_one_at_a_time(engine, started, hands, options);
    if (!done || engine.spent().evaluations != kRounds) state.SkipWithError("ended early");
  }
  const auto rounds = static_cast<double>(kRounds) * static_cast<double>(state.iterations());
  state.counters["per_round"] = benchmark::Counter(
      kRounds, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["questions_a_round"] = static_cast<double>(at_once.letters) / rounds;
  state.counters["kB_a_question"] =
      static_cast<double>(at_once.letters_bytes) / static_cast<double>(at_once.letters) / 1e3;
}
BENCHMARK_CAPTURE(round_in_writing, memory, "/dev/shm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_in_writing, disk, "")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace ksearch
