// A model that fails one call in five, in nine ways, is away for a while, and is killed at: what a
// run ends with, what it says it spent, and that nothing is evaluated or paid for twice. And a run
// again from its list of calls, without a network, byte for byte.
//
// Searches have 40 rounds here. Those of issue 6 have 200:
//   KSEARCH_ROUNDS=200 build/dev/bin/model_search_test
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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
using testing::HasSubstr;

constexpr int kTries = 12;  // of one request, in model_search

int rounds() {
  const char* set = std::getenv("KSEARCH_ROUNDS");
  return set ? std::atoi(set) : 40;
}

std::int64_t count(const Json& json, const char* key) { return json.at(key).get<std::int64_t>(); }

/// Calls and tokens, as somebody counted them.
struct Sums {
  std::int64_t calls = 0, in = 0, cached = 0, out = 0;
  bool operator==(const Sums&) const = default;
};
void PrintTo(const Sums& s, std::ostream* out) {
  *out << s.calls << " calls, " << s.in << " in, " << s.cached << " cached, " << s.out << " out";
}

/// What must be the same whatever failed on the way.
Json result(const Json& run) {
  Json same;
  for (const char* key : {"best", "score", "status", "why", "nodes", "evaluations"})
    same[key] = run.at(key);
  return same;
}

class ModelSearch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // In memory where there is such a folder: on a busy disk every flush of a journal waits.
    const fs::path shm = "/dev/shm";
    auto folder = os::TempFolder::create("ksearch-model-", fs::exists(shm) ? shm : fs::path());
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  fs::path path(const std::string& name) const { return folder_->path() / name; }
  std::string read(const std::string& name) const { return os::read_file(path(name)).value_or(""); }
  std::vector<Json> lines(const std::string& name) const {
    const std::string text = read(name);
    std::vector<Json> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (auto json = base::parse_json(std::string_view(text).substr(at, end - at), "line"))
        lines.push_back(std::move(*json));
      at = end + 1;
    }
    return lines;
  }

  /// The scripted model, listening at `address_`; NAME.log says what it did.
  void serve(const std::string& name, const std::vector<std::string>& how) {
    os::Command c;
    c.argv = {"/usr/bin/env", "python3", KSEARCH_SOURCE_DIR "/tests/e2e/scripted_model.py"};
    c.argv.insert(c.argv.end(), how.begin(), how.end());
    for (const std::string& each : {std::string("--port-file"), path(name + ".port").string(),
                                    std::string("--log"), path(name + ".log").string()})
      c.argv.push_back(each);
    c.environment = os::current_environment();
    auto process = os::Process::start(c);
    ASSERT_TRUE(process);
    servers_.push_back(std::move(*process));
    std::string port;
    for (int i = 0; i < 600 && port.empty(); ++i) {
      std::this_thread::sleep_for(50ms);
      port = read(name + ".port");
    }
    ASSERT_FALSE(port.empty()) << "the scripted model did not start";
    address_ = "http://127.0.0.1:" + port;
  }

  os::Command search(const std::string& folder) const {
    os::Command c;
    c.argv = {KSEARCH_MODEL_SEARCH, path(folder), address_, GetParam(), std::to_string(rounds())};
    c.environment = os::current_environment();
    return c;
  }
  /// What the search says at its end, or why there is nothing to compare.
  Json run(const std::string& folder) const {
    const auto finished = os::run(search(folder), 10min, 1 << 20);
    if (!finished) return finished.error().text();
    auto json = base::parse_json(finished->output, "output");
    return json ? *json : Json(finished->output);
  }

  /// Calls by what became of them; and what was sent whole.
  Sums served(const std::string& name, std::map<std::string, int>& kinds) const {
    Sums sums;
    for (const Json& line : lines(name + ".log")) {
      ++kinds[line["what"].get<std::string>()];
      ++sums.calls;
      sums.in += line["tokens"][0].get<std::int64_t>();
      sums.cached += line["tokens"][1].get<std::int64_t>();
      sums.out += line["tokens"][2].get<std::int64_t>();
    }
    return sums;
  }

  /// What a run says it spent is the sum of its calls, and each costs what its tokens cost. Returns
  /// what the server counted of it: tokens that were estimated are not among them.
  Sums expect_exact_accounts(const std::string& folder, const Json& run) const {
    Sums all, counted;
    double cost = 0;
    std::map<std::string, std::int64_t> open;  // tokens of calls that did not end
    for (const Json& line : lines(folder + "/calls.jsonl")) {
      const bool begun = line.contains("begun");
      if (!begun && !line.contains("ended")) continue;
      const Json& call = line[begun ? "begun" : "ended"];
      std::string key;
      for (const char* number : {"request", "asked", "again", "part", "number"})
        key += call[number].dump() + " ";
      if (begun) {
        ++all.calls;
        open[key] = count(call, "tokens");
        continue;
      }
      open.erase(key);
      const Json& tokens = call["tokens"];
      const Sums took{1, count(tokens, "in"), count(tokens, "cached"), count(tokens, "out")};
      for (Sums* sums : {&all, &counted}) {
        if (sums == &counted && call.value("estimated", false)) continue;
        sums->in += took.in;
        sums->cached += took.cached;
        sums->out += took.out;
      }
      const double each = static_cast<double>(took.in - took.cached) * 1e-6 +
                          static_cast<double>(took.cached) * 1e-7 +
                          static_cast<double>(took.out) * 4e-6;
      EXPECT_NEAR(call["cost_usd"].get<double>(), each, 1e-12);
      cost += each;
    }
    counted.calls = all.calls;
    // A call that a kill cut is counted as its question: whether it was answered nobody knows.
    for (const auto& [key, tokens] : open) all.in += tokens;
    EXPECT_EQ(count(run, "calls"), all.calls);
    EXPECT_EQ(count(run, "tokens"), all.in + all.out);
    EXPECT_EQ(count(run, "tokens_out"), all.out);
    EXPECT_EQ(count(run, "tokens_cached"), all.cached);
    EXPECT_NEAR(run["cost_usd"].get<double>(), cost, 1e-9);
    return counted;
  }

  /// Each program once, and as many as there were rounds.
  void expect_no_evaluation_lost_or_doubled(const std::string& folder) const {
    std::map<std::string, int> times;
    for (const Json& line : lines(folder + "/journal.jsonl"))
      if (line.value("event", "") == "evaluated" && line["id"] != 0)
        ++times[line["program"].get<std::string>()];
    for (const auto& [program, evaluations] : times) EXPECT_EQ(evaluations, 1) << program;
    EXPECT_EQ(static_cast<int>(times.size()), rounds());
  }

  /// A folder with nothing but the run's beginning and the list of its calls comes to the same,
  /// begun and resumed as often as the run was where it ended for want of a model.
  void expect_replays(const std::string& folder, const Json& run_before, int ends = 1) {
    servers_.clear();
    fs::create_directory(path("again"));
    for (const char* name : {"run.json", "calls.jsonl"})
      fs::copy_file(path(folder) / name, path("again") / name);
    Json again;
    for (int i = 0; i < ends; ++i) again = run("again");
    EXPECT_EQ(again, run_before);
    for (const char* name : {"/journal.jsonl", "/world_model.json", "/calls.jsonl"})
      EXPECT_TRUE(read("again" + std::string(name)) == read(folder + name))
          << name << ": nobody was called, and nothing else was done";
  }

  std::vector<std::string> reasons_of_losses(const std::string& folder) const {
    std::vector<std::string> reasons;
    for (const Json& line : lines(folder + "/journal.jsonl"))
      if (line.value("event", "") == "answered" && line["answer"] == "lost")
        reasons.push_back(line["what"]);
    return reasons;
  }

  std::optional<os::TempFolder> folder_;
  std::vector<os::Process> servers_;
  std::string address_;
};

TEST_P(ModelSearch, OneCallInFiveFailing) {
  serve("calm", {});
  const Json calm = run("calm");
  ASSERT_TRUE(calm.is_object()) << calm;
  serve("wild", {"--fail", "0.2"});
  const Json wild = run("wild");
  ASSERT_TRUE(wild.is_object()) << wild;
  EXPECT_EQ(result(wild), result(calm));
  EXPECT_EQ(read("wild/world_model.json"), read("calm/world_model.json"));
  expect_no_evaluation_lost_or_doubled("wild");
  EXPECT_THAT(reasons_of_losses("wild"), testing::IsEmpty());

  std::map<std::string, int> kinds;
  const Sums sent = served("wild", kinds);
  const Sums counted = expect_exact_accounts("wild", wild);
  EXPECT_EQ(counted, sent);
  if (rounds() >= 200) {
    EXPECT_GE(kinds.size(), 11u) << "answers, context overflows and nine ways to fail";
    EXPECT_GT(count(wild, "tokens"), counted.in + counted.out) << "cut streams are paid for, too";
  }
  RecordProperty("calls", static_cast<int>(sent.calls));
  RecordProperty("failed", static_cast<int>(sent.calls) - kinds["answer"]);
  expect_replays("wild", wild);
}

TEST_P(ModelSearch, KilledAtAnyMomentAndResumed) {
  serve("calm", {});
  const Json calm = run("calm");
  ASSERT_TRUE(calm.is_object()) << calm;
  serve("wild", {"--fail", "0.1"});
  const auto written = [&] {
    std::uintmax_t bytes = 0;
    for (const char* name : {"killed/journal.jsonl", "killed/calls.jsonl"}) {
      std::error_code error;
      const std::uintmax_t size = fs::file_size(path(name), error);
      if (!error) bytes += size;
    }
    return bytes;
  };
  // By what was written, not by time: the same moments on any machine.
  base::Random random = base::Random(7).fork(GetParam());
  int kills = 0;
  while (true) {
    const std::uintmax_t until =
        written() + 1 + random.below(1000 * static_cast<std::uint64_t>(rounds()));
    auto process = os::Process::start(search("killed"));
    ASSERT_TRUE(process);
    bool ended = false;
    while (!ended && written() < until) ended = process->wait(1ms).has_value();
    if (ended) break;
    process->kill();  // -9
    ++kills;
  }
  EXPECT_GE(kills, 3);
  RecordProperty("kills", kills);
  const Json killed = run("killed");  // says again what it ended with
  ASSERT_TRUE(killed.is_object()) << killed;
  EXPECT_EQ(result(killed), result(calm));
  EXPECT_EQ(read("killed/world_model.json"), read("calm/world_model.json"));
  expect_no_evaluation_lost_or_doubled("killed");
  expect_exact_accounts("killed", killed);
  std::map<std::string, int> kinds;
  const std::int64_t served_calls = served("wild", kinds).calls;
  EXPECT_GE(count(killed, "calls"), served_calls) << "each is written down before it is made";
  EXPECT_LE(count(killed, "calls"), served_calls + kills) << "and then perhaps not made";
  expect_replays("killed", killed);
}

TEST_P(ModelSearch, ARequestThatIsLostIsAskedAgain) {
  serve("calm", {});
  const Json calm = run("calm");
  ASSERT_TRUE(calm.is_object()) << calm;
  serve("away", {"--outage", fmt::format("30:{}", kTries + 3)});
  const Json away = run("away");
  ASSERT_TRUE(away.is_object()) << away;
  EXPECT_EQ(result(away), result(calm));
  EXPECT_THAT(reasons_of_losses("away"), testing::ElementsAre(HasSubstr("internal error")));
  EXPECT_EQ(count(away, "calls"), count(calm, "calls") + kTries + 3);
  std::map<std::string, int> kinds;
  EXPECT_EQ(expect_exact_accounts("away", away), served("away", kinds));
  expect_no_evaluation_lost_or_doubled("away");
  expect_replays("away", away);
}

TEST_P(ModelSearch, AModelThatStaysAwayEndsTheRunWithWhatItHasAndResumingGoesOn) {
  serve("gone", {"--outage", "30:100000"});
  const Json gone = run("gone");
  ASSERT_TRUE(gone.is_object()) << gone;
  EXPECT_EQ(gone["status"], "stopped");
  EXPECT_THAT(gone["why"], HasSubstr("request was lost 5 times: scripted: internal error"));
  EXPECT_NE(gone["best"], "");
  EXPECT_EQ(count(gone, "calls"), 29 + 5 * kTries);
  EXPECT_EQ(reasons_of_losses("gone").size(), 5u);
  std::map<std::string, int> kinds;
  const Sums before = served("gone", kinds);
  EXPECT_EQ(expect_exact_accounts("gone", gone), before);

  serve("back", {});
  const Json back = run("gone");
  ASSERT_TRUE(back.is_object()) << back;
  EXPECT_EQ(back["status"], "passed");
  expect_no_evaluation_lost_or_doubled("gone");
  const Sums after = served("back", kinds);
  EXPECT_EQ(expect_exact_accounts("gone", back),
            (Sums{before.calls + after.calls, before.in + after.in, before.cached + after.cached,
                  before.out + after.out}));
  expect_replays("gone", back, 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, ModelSearch, testing::Values("chat", "responses", "messages"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ksearch
