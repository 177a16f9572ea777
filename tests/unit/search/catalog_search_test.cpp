// The repository's own catalogs, searched with the factors their authors expect as measurements:
// every step loads, is reached and closed, and the search ends. What the programs really do is
// measured elsewhere.
#include <gtest/gtest.h>

#include <filesystem>

#include "engineer/catalog.h"
#include "engineer/describe.h"
#include "engineer/seeded.h"
#include "engineer/written.h"
#include "os/files.h"
#include "unit/engineer/letters.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

kernel::Definition definition_of(const std::string& task) {
  const fs::path path = fs::path(KSEARCH_SOURCE_DIR) / "tasks" / task / "definition.json";
  const auto json = base::parse_json(os::read_file(path).value(), path.string());
  auto definition = kernel::parse_definition(*json, path.string());
  if (!definition) throw std::runtime_error(definition.error().text());
  return *definition;
}

kernel::HardwareProfile machine(bool with_everything) {
  kernel::HardwareProfile device;
  device.name = "test";
  device.kind = "cpu";
  device.cores = 2;
  device.simd_width = with_everything ? 16 : 8;
  device.float32_flops = 1e11;
  device.bandwidth = {{1e3, 1e11}, {1e9, 1e10}};
  device.l1_bytes = 32 << 10;
  device.l2_bytes = 1 << 20;
  if (with_everything) {
    device.features = {"avx2",     "fma",         "f16c",        "avx512f",
                       "avx512bw", "avx512_bf16", "avx512_fp16", "amx_bf16"};
  }
  return device;
}

class CatalogSearch : public testing::TestWithParam<std::string> {};

TEST_P(CatalogSearch, ReachesEveryStepThatTheMachineCanRun) {
  const kernel::Definition definition = definition_of(GetParam());
  const auto catalog = engineer::load_catalog(
      fs::path(KSEARCH_SOURCE_DIR) / "catalog" / GetParam() / "cpp", definition);
  ASSERT_TRUE(catalog.has_value()) << catalog.error().text();
  for (const bool with_everything : {false, true}) {
    engineer::CatalogContext context;
    context.catalog = &*catalog;
    context.definition = &definition;
    context.device = machine(with_everything);
    engineer::CatalogPlanner planner(context);
    engineer::CatalogCoder coder(&*catalog);
    base::ManualClock clock;
    Hands hands{&planner, &coder,
                [&](const evaluate::EvaluateRequest& request, const evaluate::Progress&) {
                  for (const engineer::Step& step : catalog->steps) {
                    if (step.program.hash() == request.program.hash()) {
                      return kernel::EvaluateReply{measured(step.action.expected.value_or(1))};
                    }
                  }
                  return kernel::EvaluateReply{wrong()};
                },
                [](const CertifyRequest&, const evaluate::Progress&) {
                  return CertifyReply{certificate(true)};
                }};
    Config c = config();
    c.task = GetParam();
    Engine engine = Engine::make(c).value();
    ASSERT_TRUE(run_one_at_a_time(engine, {}, hands, {.clock = &clock}).has_value());
    EXPECT_EQ(engine.end_reason(), "the frontier is empty and the planner has nothing more");
    kernel::Scope scope;
    kernel::add_device(context.device, scope);
    for (const engineer::Step& step : catalog->steps) {
      if (step.needs && !step.needs->eval_boolean(scope).value()) continue;
      const tree::Node* node = engine.tree().find(step.name);
      EXPECT_TRUE(node && node->closed()) << step.name;
    }
  }
}

/// Somebody who writes: plans one node under the best program, and then writes a program for it.
class Writer final : public engineer::Correspondent {
 public:
  explicit Writer(std::string program) : program_(std::move(program)) {}
  std::string name() const override { return "writer"; }
  engineer::LetterReply ask(const engineer::Letter& letter) override {
    letters.push_back(letter);
    if (!letter.plan)
      return {llm::RawReply{letter.kind == "code" ? program_
                                                  : "```json\n{\"exhausted\": \"done\"}\n```"}};
    if (letter.kind == "plan-propose" && planned_++ == 0)
      return {llm::RawReply{R"({"ops": [{"op": "insert_node", "parent_id": "vector_rows", "node":
        {"node_id": "mine", "action": {"title": "my own", "score_0_to_1": 0.9}}}]})"}};
    return {llm::RawReply{R"({"ops": [], "why": "nothing more"})"}};
  }
  std::vector<engineer::Letter> letters;

 private:
  std::string program_;
  int planned_ = 0;
};

TEST(SeededSearch, TheCatalogGoesFirstAndItsProgramsStandInTheLetters) {
  const kernel::Definition definition = definition_of("softmax");
  const auto catalog =
      engineer::load_catalog(fs::path(KSEARCH_SOURCE_DIR) / "catalog/softmax/cpp", definition);
  ASSERT_TRUE(catalog.has_value());
  engineer::CatalogContext context;
  context.catalog = &*catalog;
  context.definition = &definition;
  context.device = machine(true);
  engineer::CatalogPlanner first_planner(context);
  engineer::CatalogCoder first_coder(&*catalog);
  kernel::Program mine = catalog->find("vector_rows")->program;
  mine.sources.front().text += "\nstatic int mine = 1;\n";
  Writer writer(engineer::describe(mine));
  engineer::WrittenPlanner then_planner(&engineer::softmax_prompts(), &writer);
  engineer::WrittenCoder then_coder(&engineer::softmax_prompts(), &definition, &writer);
  engineer::SeededPlanner planner(&*catalog, &first_planner, &then_planner);
  engineer::SeededCoder coder(&*catalog, &first_coder, &then_coder);
  base::ManualClock clock;
  const Hands hands{&planner, &coder,
                    [&](const evaluate::EvaluateRequest& request, const evaluate::Progress&) {
                      const bool own = request.program.hash() == mine.hash();
                      return kernel::EvaluateReply{measured(own ? 9 : 1)};
                    },
                    [](const CertifyRequest&, const evaluate::Progress&) {
                      return CertifyReply{certificate(true)};
                    }};
  Config c = config();
  c.task = "softmax";
  Engine engine = Engine::make(c).value();
  ASSERT_TRUE(run_one_at_a_time(engine, {}, hands, {.clock = &clock}).has_value());
  EXPECT_EQ(engine.best()->node_id, "mine") << engine.end_reason();
  ASSERT_FALSE(writer.letters.empty());
  EXPECT_EQ(writer.letters.front().kind, "plan-propose") << "the catalog's steps came first";
  for (const engineer::Step& step : catalog->steps)
    if (!step.needs) EXPECT_TRUE(engine.tree().find(step.name)->closed()) << step.name;
  const auto code = std::ranges::find(writer.letters, "code", &engineer::Letter::kind);
  ASSERT_NE(code, writer.letters.end());
  const std::string& source = catalog->find("vector_rows")->program.sources.front().text;
  EXPECT_NE(code->text.find(source), std::string::npos) << "the parent is a step of the catalog";
}

std::vector<std::string> tasks() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(fs::path(KSEARCH_SOURCE_DIR) / "catalog", error)) {
    if (fs::is_directory(entry.path() / "cpp")) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Repository, CatalogSearch, testing::ValuesIn(tasks()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CatalogSearch);

}  // namespace
}  // namespace ksearch::search
