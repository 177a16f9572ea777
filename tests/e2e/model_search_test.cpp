// A model that fails one call in five, in nine ways, and is killed at: what a run ends with, what
// it says it spent, and that nothing is evaluated or paid for twice. And a run again from its list
// of calls, without a network, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "base/json.h"
#include "base/random.h"
#include "os/process.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using base::Json;

class ModelSearch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto folder = os::TempFolder::create("ksearch-model-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  const fs::path& path() const { return folder_->path(); }
  static std::string read(const fs::path& file) { return os::read_file(file).value_or(""); }
  static std::vector<Json> lines(const fs::path& file) {
    const std::string text = read(file);
    std::vector<Json> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (auto json = base::parse_json(std::string_view(text).substr(at, end - at), "line"))
        lines.push_back(std::move(*json));
      at = end + 1;
    }
    return lines;
  }

  /// The scripted model, listening; its address is in `address_`.
  void serve(const std::string& name, const std::string& fail) {
    os::Command c;
    c.argv = {"/usr/bin/env",
              "python3",
              KSEARCH_SOURCE_DIR "/tests/e2e/scripted_model.py",
              "--port-file",
              path() / (name + ".port"),
              "--fail",
              fail,
              "--log",
              path() / (name + ".log")};
    c.environment = os::current_environment();
    auto process = os::Process::start(c);
    ASSERT_TRUE(process);
    servers_.push_back(std::move(*process));
    std::string port;
    for (int i = 0; i < 300 && port.empty(); ++i) {
      std::this_thread::sleep_for(50ms);
      port = read(path() / (name + ".port"));
    }
    ASSERT_FALSE(port.empty()) << "the scripted model did not start";
    address_ = "http://127.0.0.1:" + port;
  }

  os::Command search(const std::string& folder) const {
    os::Command c;
    c.argv = {KSEARCH_MODEL_SEARCH, path() / folder, address_, GetParam(),
              std::to_string(evaluations_)};
    c.environment = os::current_environment();
    return c;
  }
  Json run(const std::string& folder) const {
    const auto finished = os::run(search(folder), 5min, 1 << 20);
    if (!finished) return finished.error().text();
    auto json = base::parse_json(finished->output, "output");
    return json ? *json : Json(finished->output);
  }

  /// Times each program was evaluated, by the journal.
  std::map<std::string, int> evaluated(const std::string& folder) const {
    std::map<std::string, int> times;
    for (const Json& line : lines(path() / folder / "journal.jsonl"))
      if (line.value("event", "") == "evaluated" && line["id"] != 0)
        ++times[line["program"].get<std::string>()];
    return times;
  }

  std::optional<os::TempFolder> folder_;
  std::vector<os::Process> servers_;
  std::string address_;
  int evaluations_ = 200;
};

/// What must be the same whatever failed on the way.
Json result(const Json& run) {
  Json same;
  for (const char* key : {"best", "score", "status", "why", "nodes", "evaluations"})
    same[key] = run.at(key);
  return same;
}

TEST_P(ModelSearch, TwoHundredRoundsWithOneCallInFiveFailing) {
  serve("calm", "0");
  const Json calm = run("calm");
  ASSERT_TRUE(calm.is_object()) << calm;
  EXPECT_EQ(calm["evaluations"], 200);
  serve("wild", "0.2");
  const Json wild = run("wild");
  ASSERT_TRUE(wild.is_object()) << wild;
  EXPECT_EQ(result(wild), result(calm));
  EXPECT_EQ(read(path() / "wild/world_model.json"), read(path() / "calm/world_model.json"));
  for (const auto& [program, times] : evaluated("wild")) EXPECT_EQ(times, 1) << program;

  std::map<std::string, int> what;
  std::int64_t in = 0, cached = 0, out = 0;
  for (const Json& line : lines(path() / "wild.log")) {
    ++what[line["what"].get<std::string>()];
    in += line["tokens"][0].get<std::int64_t>();
    cached += line["tokens"][1].get<std::int64_t>();
    out += line["tokens"][2].get<std::int64_t>();
  }
  EXPECT_GE(what.size(), 11u) << "answers, context overflows and nine ways to fail";
  std::int64_t calls = 0, paid = 0, guessed = 0, cost_in = 0;
  for (const Json& line : lines(path() / "wild/calls.jsonl")) {
    if (!line.contains("ended")) continue;
    const Json& ended = line["ended"];
    ++calls;
    const std::int64_t sum =
        ended["tokens"]["in"].get<std::int64_t>() + ended["tokens"]["out"].get<std::int64_t>();
    (ended.value("estimated", false) ? guessed : paid) += sum;
    cost_in += ended["tokens"]["in"].get<std::int64_t>();
  }
  std::int64_t served = 0;
  for (const auto& [kind, count] : what) served += count;
  EXPECT_EQ(calls, served);
  EXPECT_EQ(wild["calls"], served);
  EXPECT_EQ(paid, in + out) << "what was counted is exact";
  EXPECT_EQ(wild["tokens"], paid + guessed);
  EXPECT_EQ(wild["tokens_cached"].get<std::int64_t>() >= cached, true);
  EXPECT_GT(guessed, 0) << "cut streams are paid for, too";
}

TEST_P(ModelSearch, KilledAtAnyMomentAndResumedItEndsTheSame) {
  evaluations_ = 80;
  serve("calm", "0");
  const Json calm = run("calm");
  ASSERT_TRUE(calm.is_object()) << calm;
  serve("wild", "0.1");
  base::Random random = base::Random(7).fork(GetParam());
  int kills = 0;
  for (; kills < 12; ++kills) {
    auto process = os::Process::start(search("killed"));
    ASSERT_TRUE(process);
    const auto status = process->wait(std::chrono::milliseconds(60 + random.below(350)));
    if (status) break;  // it was quicker
    process->kill();    // -9
  }
  EXPECT_GE(kills, 3);
  const Json killed = run("killed");
  ASSERT_TRUE(killed.is_object()) << killed;
  EXPECT_EQ(result(killed), result(calm));
  EXPECT_EQ(read(path() / "killed/world_model.json"), read(path() / "calm/world_model.json"));
  for (const auto& [program, times] : evaluated("killed")) EXPECT_EQ(times, 1) << program;
  const auto served = static_cast<int>(lines(path() / "wild.log").size());
  const int calls = killed["calls"].get<int>();
  EXPECT_GE(calls, served - kills) << "a call that was cut before it was written down";
  EXPECT_LE(calls, served + kills) << "a call that was written down and not made";
}

TEST_P(ModelSearch, RunsAgainWithoutANetworkByteForByte) {
  evaluations_ = 40;
  serve("wild", "0.2");
  const Json first = run("first");
  ASSERT_TRUE(first.is_object()) << first;
  servers_.clear();
  // A run's folder with nothing but its beginning and the list of calls.
  fs::create_directory(path() / "again");
  for (const char* name : {"run.json", "calls.jsonl"})
    fs::copy_file(path() / "first" / name, path() / "again" / name);
  std::ofstream(path() / "again/journal.jsonl") << "";
  const Json again = run("again");
  EXPECT_EQ(again, first);
  EXPECT_EQ(read(path() / "again/journal.jsonl"), read(path() / "first/journal.jsonl"));
  EXPECT_EQ(read(path() / "again/world_model.json"), read(path() / "first/world_model.json"));
  EXPECT_EQ(read(path() / "again/calls.jsonl"), read(path() / "first/calls.jsonl"))
      << "nobody was called";
}

INSTANTIATE_TEST_SUITE_P(Formats, ModelSearch, testing::Values("chat", "responses", "messages"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ksearch
