// A search whose engineer is a model at an address and whose evaluator is a number in the source:
// everything but compiling and timing is as in `ksearch run`. For model_search_test.
//
//   model_search FOLDER ADDRESS API EVALUATIONS    begins, or goes on where the journal ends
#include <fmt/format.h>

#include <charconv>
#include <cstdio>

#include "engineer/model_correspondent.h"
#include "engineer/written.h"
#include "search/recorder.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

namespace fs = std::filesystem;

template <class T>
T must(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// "int variant = N;": N decides whether it is right and how fast it is.
kernel::EvaluateReply judge(const evaluate::EvaluateRequest& request) {
  const std::string& text = request.program.sources.front().text;
  const std::size_t at = text.find("= ") + 2;
  std::uint64_t variant = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), variant);
  base::Random random = base::Random(variant).fork("speed");
  if (random.unit() < 0.3) return wrong();
  return measured(0.1 + 1.5 * random.unit(), 0.5 + random.unit());
}

engineer::Brief brief() {
  engineer::Brief brief;
  brief.definition = copy_task();
  brief.device.name = "made up";
  brief.device.kind = "cpu";
  brief.example = program("int variant = 0;");
  return brief;
}

Engine engine_of(store::Run& run, bool fresh, const Config& config) {
  if (fresh) return must(Engine::make(config));
  Resumed resumed = must(resume(run, copy_task()));
  must(reopen(run, resumed.engine));
  return std::move(resumed.engine);
}

int search(const fs::path& folder, const std::string& address, const std::string& api,
           std::int64_t evaluations) {
  Config config = search::config();
  config.limits.evaluations = evaluations;
  config.first_nodes = 8;
  const bool fresh = !fs::exists(folder / "run.json");
  store::RunInfo info;
  info.task = "copy";
  info.target = "cpu";
  info.search = to_json(config);
  for (base::Json* json : {&info.device, &info.knowledge, &info.environment, &info.options})
    *json = base::Json::object();
  store::Run run = must(fresh ? store::Run::create(folder, info) : store::Run::open(folder));
  Engine engine = engine_of(run, fresh, config);

  const auto transport = llm::make_curl_transport();
  llm::Endpoint endpoint;
  endpoint.base_url = address;
  endpoint.wire = llm::find_wire(api);
  endpoint.key = "key-for-tests";
  endpoint.model = "scripted";
  endpoint.price = llm::Price{1e-6, 4e-6, 1e-7};
  llm::ClientOptions options;
  options.first_wait = std::chrono::milliseconds(2);
  options.longest_wait = std::chrono::milliseconds(20);
  options.limits.whole = std::chrono::milliseconds(1500);
  options.tries = 12;  // one call in five fails: twelve in a row do not
  llm::Client client(endpoint, transport.get(), options);
  const auto log = must(engineer::CallLog::open(folder / "calls.jsonl"));
  const auto correspondent = engineer::make_model_correspondent(&client, log.get());
  const engineer::Prompts prompts =
      must(engineer::Prompts::load(fs::path(KSEARCH_SOURCE_DIR) / "knowledge/prompts", brief()));
  engineer::WrittenPlanner planner(&prompts, correspondent.get());
  engineer::WrittenCoder coder(&prompts, &copy_task(), correspondent.get());

  // Time stands still: journals of two runs can be compared byte by byte.
  const base::ManualClock clock;
  StoreRecorder recorder(&run);
  DriverOptions driver;
  driver.clock = &clock;
  driver.recorder = &recorder;
  const Hands hands{&planner, &coder,
                    [](const auto& request, const auto&) { return judge(request); },
                    [](const auto&, const auto&) -> CertifyReply { return certificate(true); }};
  if (const auto done =
          run_one_at_a_time(engine, Started{{}, program("int variant = 0;"), {}}, hands, driver);
      !done)
    throw std::runtime_error(done.error().text());
  const event::Spent& spent = engine.spent();
  fmt::print("{}",
             base::to_text({{"best", engine.best() ? engine.best()->hash : ""},
                            {"score", engine.best() ? engine.best()->outcome->score()->value : 0},
                            {"status", engine.status()},
                            {"why", engine.end_reason()},
                            {"nodes", engine.tree().size()},
                            {"evaluations", spent.evaluations},
                            {"calls", spent.calls},
                            {"tokens", spent.tokens},
                            {"tokens_out", spent.tokens_out},
                            {"tokens_cached", spent.tokens_cached},
                            {"cost_usd", spent.cost_usd}}));
  return 0;
}

}  // namespace
}  // namespace ksearch::search

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    return ksearch::search::search(argv[1], argv[2], argv[3], std::stoll(argv[4]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
