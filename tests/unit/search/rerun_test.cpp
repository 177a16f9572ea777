// A recorded run again: the same answers give the same journal, other answers are found where they
// differ.
#include "search/rerun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "search/recorder.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kRecordedSeed = 3;

class RerunOfLanes : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const fs::path shm = "/dev/shm";
    temp_ = os::TempFolder::create("ksearch-rerun", fs::exists(shm) ? shm : fs::path()).value();
    folder_ = temp_->path() / "run";
    Config c = config();
    c.lanes = GetParam();
    c.limits.evaluations = 40;
    store::RunInfo info;
    info.run = "r";
    info.task = "copy";
    info.target = "cpu";
    info.search = to_json(c);
    store::Run run = store::Run::create(folder_, info).value();
    Engine engine = Engine::make(c).value();
    StoreRecorder recorder(&run);
    Scripted scripted(kRecordedSeed, false);
    base::ManualClock clock;
    const Hands all{&scripted, &scripted,
                    [&](const auto& request, const auto&) { return scripted.evaluate(request); },
                    [&](const auto& request, const auto&) { return scripted.certify(request); }};
    Started start;
    start.root_program = program("naive");
    const auto drive = GetParam() > 1 ? run_overlapped : run_one_at_a_time;
    ASSERT_TRUE(drive(engine, start, all, {.clock = &clock, .recorder = &recorder}));
  }
  Rerun again(std::uint64_t seed = kRecordedSeed) const {
    Scripted scripted(seed, false);
    return rerun(store::read_run(folder_).value(), copy_task(), scripted, scripted).value();
  }
  std::string journal() const { return os::read_file(folder_ / "journal.jsonl").value(); }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::optional<os::TempFolder> temp_;
  fs::path folder_;
};

TEST_P(RerunOfLanes, TheSameAnswersAreTheSameRun) {
  const Rerun same = again();
  EXPECT_EQ(same.difference, "");
  EXPECT_EQ(same.missing, "");
  EXPECT_GT(same.thought, 40u) << "programs and plans";
  EXPECT_GT(same.told, same.thought + 40) << "and what was measured";
}

TEST_P(RerunOfLanes, OtherAnswersAreFoundWhereTheyBegin) {
  const Rerun other = again(kRecordedSeed + 1);
  EXPECT_THAT(other.difference, StartsWith("journal.jsonl:"));
  EXPECT_THAT(other.difference, HasSubstr("recorded: "));
  EXPECT_EQ(other.thought, 1u) << "the first one already";
}

TEST_P(RerunOfLanes, AJournalThatAKillCutIsTheBeginningOfTheRunAndSaysSo) {
  const std::string whole = journal();
  for (std::size_t bytes = whole.size() / 13; bytes < whole.size(); bytes += whole.size() / 13) {
    write("journal.jsonl", whole.substr(0, bytes));
    const Rerun cut = again();
    EXPECT_EQ(cut.difference, "") << bytes;
    EXPECT_THAT(cut.missing, HasSubstr("is its last line: ")) << bytes;
    EXPECT_THAT(cut.missing, HasSubstr("torn last line")) << bytes;
  }
  write("journal.jsonl", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
  EXPECT_THAT(again().missing, HasSubstr("of what follows from it something is missing"));
}

TEST_P(RerunOfLanes, AJournalWithoutALineThatWasToldIsNoRun) {
  const std::string whole = journal();
  for (const std::size_t bytes : {std::size_t{0}, whole.find('\n') + 1, whole.find('\n') + 9}) {
    write("journal.jsonl", whole.substr(0, bytes));
    Scripted scripted(kRecordedSeed, false);
    const auto none = rerun(store::read_run(folder_).value(), copy_task(), scripted, scripted);
    ASSERT_FALSE(none) << bytes;
    EXPECT_THAT(none.error().text(), HasSubstr("journal.jsonl: nothing was told"));
  }
}

TEST_P(RerunOfLanes, LinesThatFollowFromNothingAreFound) {
  const std::string whole = journal();
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  write("journal.jsonl", whole + whole.substr(last));
  EXPECT_THAT(again().difference, HasSubstr("follow from nothing"));
}

TEST_P(RerunOfLanes, ALineThatWasTakenOutOrStandsTwiceIsNamed) {
  const std::string whole = journal();
  std::vector<std::size_t> begins{0};
  for (std::size_t at = 0; (at = whole.find('\n', at) + 1) < whole.size();) begins.push_back(at);
  const auto line = [&](std::size_t i) {
    return whole.substr(begins[i], whole.find('\n', begins[i]) + 1 - begins[i]);
  };
  int tried = 0;
  for (std::size_t i = 2; i + 1 < begins.size(); i += 7) {
    if (line(i).starts_with("{\"n\":")) continue;  // what was told
    if (line(i) == line(i + 1) || line(i - 1) == line(i + 1)) continue;
    ++tried;
    write("journal.jsonl", whole.substr(0, begins[i]) + whole.substr(begins[i + 1]));
    EXPECT_THAT(again().difference,
                StartsWith("journal.jsonl:" + std::to_string(i + 1) + ": of what follows from"));
    write("journal.jsonl", whole.substr(0, begins[i + 1]) + whole.substr(begins[i]));
    EXPECT_EQ(again().difference,
              "journal.jsonl:" + std::to_string(i + 2) + ": this line stands there a second time");
  }
  EXPECT_GT(tried, 5);
}

TEST_P(RerunOfLanes, AnotherTreeIsFound) {
  write("world_model.json", "{}\n");
  EXPECT_THAT(again().difference, HasSubstr("world_model.json"));
}

INSTANTIATE_TEST_SUITE_P(Lanes, RerunOfLanes, testing::Values(1, 3));

}  // namespace
}  // namespace ksearch::search
