// Engineers in writing, end to end: a search of softmax on the CPU by a script that answers badly
// at times, and by a folder that nobody answers until the run is resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/json.h"
#include "os/process.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

class Engineer : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = os::TempFolder::create("ksearch-engineer-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    fs::create_directory(path() / "answers");
  }
  const fs::path& path() const { return folder_->path(); }
  os::Command command(std::vector<std::string> arguments) const {
    os::Command c;
    c.argv = {KSEARCH_PROGRAM};
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = os::current_environment();
    c.environment["NO_COLOR"] = "1";
    c.environment["LC_ALL"] = "C.UTF-8";
    c.folder = path();
    return c;
  }
  struct Ran {
    int code = -1;
    std::string output;
    base::Json summary;
  };
  Ran run(std::vector<std::string> arguments) const {
    const auto finished = os::run(command(std::move(arguments)), 10min, 1 << 22);
    if (!finished) return {-1, finished.error().text(), {}};
    Ran ran{finished->status.code, finished->output, {}};
    const std::size_t begin = ran.output.starts_with("{") ? 0 : ran.output.rfind("\n{\n") + 1;
    if (auto json = base::parse_json(ran.output.substr(begin), "output")) ran.summary = *json;
    return ran;
  }
  void answer(const std::string& name, const std::string& text) const {
    std::ofstream(path() / "answers" / (name + ".md")) << text;
  }
  std::string question(int n) const {
    return read(path() / "answers" / ("question-" + std::to_string(n) + ".md"));
  }
  static std::string read(const fs::path& file) { return os::read_file(file).value_or(""); }

  /// A catalog program as an answer, after `change` of its source.
  static std::string program(const std::string& step,
                             const std::function<void(std::string&)>& change = {}) {
    const fs::path folder = fs::path(KSEARCH_SOURCE_DIR) / "catalog/softmax/cpp" / step;
    std::string source = read(folder / "softmax.cpp");
    if (change) change(source);
    return "The program:\n\n```cpp softmax.cpp\n" + source + "```\n\n```json\n" +
           read(folder / "program.json") + "```\n";
  }
  std::optional<os::TempFolder> folder_;
};

constexpr const char* kNothing = R"({"ops": [], "why": "nothing more"})";
constexpr const char* kExhausted = "```json\n{\"exhausted\": \"bound by memory\"}\n```\n";
std::string node(const std::string& id, double score) {
  return R"({"node_id": ")" + id + R"(", "parent_id": "root", "action": {"title": ")" + id +
         R"(", "score_0_to_1": )" + std::to_string(score) + "}}";
}
std::string tree_of(const std::string& nodes) {
  return "```json\n{\"kernel_summary\": \"a reduction\", \"decision_tree\": {\"root_id\": "
         "\"root\", "
         "\"nodes\": [{\"node_id\": \"root\"}, " +
         nodes + "]}}\n```\n";
}

TEST_F(Engineer, AScriptThatErrsFindsABetterProgramAndTheJournalReplays) {
  answer("1-plan-first", "I would use vectors.");
  answer("2-plan-first", tree_of(node("vectors", 0.8) + ", " + node("vectors", 0.7)));
  answer("3-plan-first", tree_of(node("vectors", 0.8) + ", " + node("other", 0.3)));
  const auto broken = [](std::string& source) { source.insert(source.find("extern \"C\""), "}"); };
  answer("4-code", program("vector_rows", broken));
  answer("5-debug", program("vector_rows"));
  answer("6-improve", kExhausted);
  answer("7-plan-revise", R"({"ops": [{"op": "delete_node", "node_id": "othr"}]})");
  answer(
      "8-plan-revise",
      R"({"ops": [{"op": "update_node", "node_id": "other", "patch": {"notes": "less is left"}}]})");
  answer("9-plan-propose", kNothing);
  answer("10-code", program("vector_rows", [](std::string& s) { s = "// the same again\n" + s; }));
  answer("11-improve", kExhausted);
  answer("12-plan-revise", kNothing);
  answer("13-plan-propose", kNothing);
  answer("14-code", kExhausted);
  answer("15-plan-revise", kNothing);
  answer("16-plan-propose", kNothing);
  const std::string script = "exec:sh '" KSEARCH_SOURCE_DIR "/tests/e2e/scripted_engineer.sh' " +
                             (path() / "answers").string();
  const Ran ran = run({"run", "softmax", "--engineer", script, "--threads", "1", "--where",
                       "rows == 1024", "--time", "5m", "--out", "found", "--json"});
  const bool noisy = ran.output.find("too noisy to certify") != std::string::npos;
  EXPECT_EQ(ran.code, noisy ? 1 : 0) << ran.output;
  EXPECT_EQ(ran.summary["best"]["node"], "vectors") << ran.output;
  EXPECT_GT(ran.summary["best"]["ratio"]["naive"]["value"].get<double>(), 1.0);
  EXPECT_EQ(ran.summary["calls"], 16);
  EXPECT_EQ(ran.summary["tokens_estimated"], true);
  EXPECT_GT(ran.summary["tokens"].get<int>(), 10000);
  EXPECT_EQ(ran.summary["evaluations"], 2) << "the duplicate is not measured";

  const std::string refusal = "answer 0001 could not be used: there is no JSON object";
  const std::size_t said = ran.output.find(refusal);
  EXPECT_LT(said, ran.output.find("answer 0001b could not be used")) << ran.output;
  EXPECT_EQ(ran.output.find(refusal, said + 1), std::string::npos) << "said once\n" << ran.output;
  EXPECT_THAT(question(2), HasSubstr("there is no JSON object in the reply"));
  EXPECT_THAT(question(3), HasSubstr("node vectors: duplicate_id"));
  EXPECT_THAT(question(5), HasSubstr("error:")) << "the compiler's message";
  EXPECT_THAT(question(6), HasSubstr("us a call"));
  EXPECT_THAT(question(8), HasSubstr("there is no node othr"));
  EXPECT_THAT(question(9), HasSubstr("less is left"));
  EXPECT_THAT(question(11), HasSubstr("repeats a program that was tried before"));

  const std::string tree = read(path() / "found/world_model.json");
  const Ran resumed = run({"resume", "found", "--json"});
  EXPECT_EQ(resumed.code, ran.code);
  EXPECT_EQ(resumed.summary["best"]["program"], ran.summary["best"]["program"]);
  EXPECT_EQ(resumed.summary["calls"], 16);
  EXPECT_EQ(resumed.summary["tokens"], ran.summary["tokens"]);
  EXPECT_EQ(read(path() / "found/world_model.json"), tree);
  EXPECT_EQ(read(path() / "answers/count"), "16\n") << "nobody was asked again";

  const Ran same = run({"replay", "found"});
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("the same, byte for byte"));
  EXPECT_EQ(read(path() / "answers/count"), "16\n") << "nobody was asked again";
  const std::string journal = read(path() / "found/journal.jsonl");
  fs::resize_file(path() / "found/journal.jsonl", journal.size() / 2);
  const Ran cut = run({"replay", "found"});
  EXPECT_EQ(cut.code, 1) << cut.output;
  EXPECT_THAT(cut.output, HasSubstr("not a whole run"));
}

TEST_F(Engineer, CtrlCAndResumeGoOnWithTheSameLetter) {
  const std::vector<std::string> arguments{"run",       "softmax", "--engineer", "dir:letters",
                                           "--threads", "1",       "--where",    "rows == 1024",
                                           "--out",     "found",   "--json"};
  const fs::path letter = path() / "letters/0001-plan-first.md";
  auto process = os::Process::start(command(arguments));
  ASSERT_TRUE(process);
  for (int i = 0; i < 3000 && !fs::exists(letter); ++i) std::this_thread::sleep_for(100ms);
  ASSERT_TRUE(fs::exists(letter));
  const std::string asked = read(letter);
  EXPECT_THAT(asked, HasSubstr("0001-answer.md"));
  ::kill(process->pid(), SIGINT);
  const auto status = process->wait(60s);
  ASSERT_TRUE(status) << "Ctrl-C ends the wait";
  EXPECT_EQ(status->code, 1);

  std::ofstream(path() / "letters/0001-answer.md") << kNothing;
  const Ran resumed = run({"resume", "found", "--json"});
  EXPECT_EQ(resumed.code, 1) << resumed.output;
  EXPECT_EQ(resumed.summary["status"], "nothing");
  EXPECT_EQ(resumed.summary["calls"], 1);
  EXPECT_EQ(read(letter), asked);
  EXPECT_FALSE(fs::exists(path() / "letters/0001b-plan-first.md"));
  const Ran same = run({"replay", "found"});
  EXPECT_EQ(same.code, 0) << same.output;

  const Ran again = run(
      std::vector<std::string>{"run", "softmax", "--engineer", "dir:letters", "--out", "other"});
  EXPECT_EQ(again.code, 2) << "letters of another run";
  EXPECT_THAT(again.output, HasSubstr("0001-"));
}

/// The scripted model, listening.
class Model : public Engineer {
 protected:
  void serve(const std::string& fail) {
    os::Command c;
    c.argv = {"/usr/bin/env",
              "python3",
              KSEARCH_SOURCE_DIR "/tests/e2e/scripted_model.py",
              "--port-file",
              path() / "port",
              "--fail",
              fail,
              "--log",
              path() / "log",
              "--softmax",
              KSEARCH_SOURCE_DIR "/catalog/softmax/cpp"};
    c.environment = os::current_environment();
    auto process = os::Process::start(c);
    ASSERT_TRUE(process);
    server_.emplace(std::move(*process));
    for (int i = 0; i < 300 && port_.empty(); ++i) {
      std::this_thread::sleep_for(50ms);
      port_ = read(path() / "port");
    }
    ASSERT_FALSE(port_.empty());
    std::ofstream(path() / "key") << "key-for-tests\n";
  }
  std::vector<std::string> with_model(std::vector<std::string> arguments) const {
    for (const std::string& more : {std::string("--base-url"), "http://127.0.0.1:" + port_,
                                    std::string("--key-file"), (path() / "key").string()})
      arguments.push_back(more);
    return arguments;
  }
  std::optional<os::Process> server_;
  std::string port_;
};

TEST_F(Model, SearchesAndSaysWhatItCostAndKeepsTheKeyToItself) {
  serve("0.2");
  std::ofstream(path() / "prices.json")
      << R"({"scripted": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}})";
  const Ran ran = run(with_model({"run", "softmax", "--engineer", "llm:scripted", "--threads", "1",
                                  "--where", "rows == 1024", "--time", "5m", "--cost", "5usd",
                                  "--prices", "prices.json", "--out", "found", "--json"}));
  EXPECT_EQ(ran.summary["best"]["node"], "vectors") << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("forecast: "));
  const std::string log = read(path() / "log");
  EXPECT_EQ(ran.summary["calls"], std::ranges::count(log, '\n'));
  EXPECT_GT(ran.summary["cost_usd"].get<double>(), 0);
  for (const auto& entry : fs::recursive_directory_iterator(path() / "found"))
    if (entry.is_regular_file())
      EXPECT_EQ(read(entry.path()).find("key-for-tests"), std::string::npos) << entry.path();
  EXPECT_EQ(ran.output.find("key-for-tests"), std::string::npos);

  const Ran resumed = run({"resume", "found", "--json"});
  EXPECT_EQ(resumed.summary["calls"], ran.summary["calls"]) << resumed.output;
  EXPECT_EQ(read(path() / "log"), log) << "nobody was asked again";

  server_.reset();
  fs::remove(path() / "key");
  const Ran same = run({"replay", "found"});
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("the same, byte for byte"));
  std::string calls = read(path() / "found/calls.jsonl");
  const std::size_t why = calls.rfind("nothing more");
  ASSERT_NE(why, std::string::npos) << calls;
  calls.replace(why, 12, "nothing else");
  std::ofstream(path() / "found/calls.jsonl") << calls;
  const Ran other = run({"replay", "found"});
  EXPECT_EQ(other.code, 3) << other.output;
  EXPECT_THAT(other.output, HasSubstr("calls.jsonl:"));
  EXPECT_THAT(other.output, HasSubstr("damaged"));
}

TEST_F(Model, AMissingKeyIsNoticedBeforeAResumedRunMeasuresAnything) {
  serve("0");
  const Ran ran =
      run(with_model({"run", "softmax", "--engineer", "llm:scripted", "--threads", "1", "--where",
                      "rows == 1024", "--evaluations", "1", "--out", "found", "--json"}));
  ASSERT_EQ(ran.summary["calls"].is_number(), true) << ran.output;
  const std::string journal = read(path() / "found/journal.jsonl");
  std::size_t three_lines = 0;
  for (int i = 0; i < 3; ++i) three_lines = journal.find('\n', three_lines) + 1;
  fs::resize_file(path() / "found/journal.jsonl", three_lines);
  fs::remove(path() / "key");
  const Ran resumed = run({"resume", "found"});
  EXPECT_EQ(resumed.code, 3) << resumed.output;
  EXPECT_EQ(std::ranges::count(resumed.output, '\n'), 1) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("key"));
}

TEST_F(Model, MoneyEndsTheRunAndATestCallSaysWhatWorks) {
  serve("0");
  const Ran test = run(with_model({"models", "--test", "scripted", "--api", "messages", "--json"}));
  EXPECT_EQ(test.code, 0) << test.output;
  EXPECT_EQ(test.summary["answered"], true);
  EXPECT_EQ(test.summary["counts_tokens"], true);
  std::ofstream(path() / "prices.json")
      << R"({"scripted": {"input_cost_per_token": 1e-3, "output_cost_per_token": 1e-3}})";
  const Ran ran = run(with_model({"run", "softmax", "--engineer", "llm:scripted", "--threads", "1",
                                  "--where", "rows == 1024", "--cost", "1usd", "--prices",
                                  "prices.json", "--out", "found", "--json"}));
  EXPECT_EQ(ran.summary["end_reason"], "budget: cost") << ran.output;
  EXPECT_EQ(ran.summary["calls"], 1);
  EXPECT_EQ(run({"run", "softmax", "--engineer", "llm:gpt-5.2", "--key-env", "NOT_SET"}).code, 2);
  EXPECT_EQ(run(with_model({"run", "softmax", "--engineer", "llm:x", "--cost", "1usd"})).code, 2)
      << "nobody knows what x costs";
}

TEST_F(Engineer, McpSpeaksTheProtocol) {
  os::Command c = command({"mcp"});
  std::ofstream(path() / "in")
      << R"({"jsonrpc": "2.0", "id": 0, "method": "server/discover"})"
      << "\n"
      << R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}})"
      << "\n"
      << R"({"jsonrpc": "2.0", "method": "notifications/initialized"})"
      << "\n"
      << R"({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})"
      << "\n"
      << R"({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "tree"}})"
      << "\n"
      << R"({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {}}})"
      << "\n"
      << R"({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "fly"}})"
      << "\n";
  c.argv = {"/bin/sh", "-c", "exec \"$0\" mcp < in", c.argv.front()};
  const auto ran = os::run(c, 60s, 1 << 20);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->status.code, 0) << ran->output;
  std::vector<base::Json> answers;
  for (std::size_t at = 0; at < ran->output.size();) {
    const std::size_t end = ran->output.find('\n', at);
    auto json = base::parse_json(ran->output.substr(at, end - at), "answer");
    ASSERT_TRUE(json) << ran->output;
    answers.push_back(std::move(*json));
    at = end + 1;
  }
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0]["error"]["code"], -32601) << "clients of 2026 then fall back to initialize";
  EXPECT_EQ(answers[1]["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answers[2]["result"]["tools"].size(), 12u);
  EXPECT_EQ(answers[3]["result"]["isError"], true);
  EXPECT_THAT(answers[3]["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("start_run"));
  EXPECT_THAT(answers[4]["result"]["content"][0]["text"].get<std::string>(), HasSubstr("softmax"));
  EXPECT_EQ(answers[5]["error"]["code"], -32602);
}

TEST_F(Engineer, SpecIsWhatPromptsBeginWith) {
  const Ran spec = run({"spec", "softmax", "--threads", "1"});
  EXPECT_EQ(spec.code, 0) << spec.output;
  for (const char* part : {"# Task", "## Right enough", "# Machine", "extern \"C\"", "```json"})
    EXPECT_THAT(spec.output, HasSubstr(part));
  EXPECT_EQ(run({"run", "softmax", "--engineer", "dir:"}).code, 2);
  EXPECT_EQ(run({"run", "softmax", "--engineer", "catalogue"}).code, 2);
}

}  // namespace
}  // namespace ksearch
