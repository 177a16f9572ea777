#include "store/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "os/files.h"
#include "unit/kernel/fixtures.h"

namespace ksearch::store {
namespace {

using base::Json;
using testing::HasSubstr;

RunInfo info() {
  RunInfo i;
  i.run = "attention-1";
  i.task = "scan";
  i.target = "cpu";
  i.device = {{"name", "test"}};
  i.threads = 2;
  i.search = {{"seed", 1}};
  i.created_at = "2026-11-29T00:00:00Z";
  return i;
}

kernel::Program scan_program() {
  const Json json = *base::parse_json(R"({
    "format": "ksearch.program/1", "task": "scan", "dialect": "cpp",
    "sources": [{"path": "a.cpp", "text": "int a;\n"}, {"path": "sub/b.h", "text": "\t// b\r\n"}],
    "launches": [{"kernel": "scan", "groups": ["B"], "args": ["x", {"optional": "w"}, "state", "indptr", "out"]}]})",
                                      "p");
  auto p = kernel::parse_program(json, kernel::definition(), "p", nullptr);
  if (!p) throw std::runtime_error(p.error().text());
  return *p;
}

class RunTest : public testing::Test {
 protected:
  os::TempFolder temp_ = os::TempFolder::create("ksearch-store").value();
  std::filesystem::path folder_ = temp_.path() / "run";
};

TEST_F(RunTest, KeepsWhatItWasTold) {
  {
    store::Run run = store::Run::create(folder_, info()).value();
    ASSERT_TRUE(run.append_told({{"elapsed", true}}).has_value());
    ASSERT_TRUE(run.append_events({{{"event", "note"}, {"text", "a"}}}).has_value());
    ASSERT_TRUE(run.replace_world_model({{"kernel_summary", "x"}}).has_value());
  }
  const store::Run run = store::Run::open(folder_).value();
  EXPECT_EQ(to_json(run.info()), to_json(info()));
  EXPECT_EQ(run.contents().told, 1u);
  EXPECT_EQ(run.contents().lines.size(), 2u);
  EXPECT_EQ(read_run(folder_).value().journal.lines.size(), 2u);
}

TEST_F(RunTest, ProgramsComeBackByHash) {
  store::Run run = store::Run::create(folder_, info()).value();
  const kernel::Program program = scan_program();
  ASSERT_TRUE(run.save_program(program).has_value());
  ASSERT_TRUE(run.save_program(program).has_value());
  const kernel::Program back = run.load_program(program.hash(), kernel::definition()).value();
  EXPECT_EQ(kernel::to_json(back), kernel::to_json(program));
  EXPECT_FALSE(run.load_program("0123", kernel::definition()).has_value());
}

TEST_F(RunTest, OneWriterAtATime) {
  const store::Run run = store::Run::create(folder_, info()).value();
  const auto second = store::Run::open(folder_);
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().text(), HasSubstr("another process is writing this run"));
  EXPECT_TRUE(read_run(folder_).has_value());
}

TEST_F(RunTest, AFolderThatIsNotEmptyIsNotTaken) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "mine.txt") << "x";
  EXPECT_FALSE(store::Run::create(folder_, info()).has_value());
}

TEST_F(RunTest, WhereNoRunCanBeIsKnownBeforehand) {
  std::ofstream(temp_.path() / "file") << "x";
  EXPECT_THAT(Claim::take(temp_.path() / "file").error().text(), HasSubstr("is no folder"));
  EXPECT_THAT(Claim::take(temp_.path() / "file" / "run").error().text(), HasSubstr("is no folder"));
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "mine.txt") << "x";
  EXPECT_THAT(Claim::take(folder_).error().text(), HasSubstr("is not empty"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "lock")) << "what is another's stays as it is";
}

TEST_F(RunTest, AClaimedFolderIsNobodyElsesAndGoesAgainWithoutARun) {
  {
    const Claim claim = Claim::take(folder_).value();
    EXPECT_THAT(Claim::take(folder_).error().text(), HasSubstr("another process"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_));
  {
    const store::Run run = store::Run::create(Claim::take(folder_).value(), info()).value();
    EXPECT_THAT(Claim::take(folder_).error().text(), HasSubstr("is not empty"));
    EXPECT_THAT(store::Run::open(folder_).error().text(), HasSubstr("another process"));
  }
  EXPECT_TRUE(read_run(folder_).has_value());
}

TEST_F(RunTest, ALockThatAKilledProcessLeftIsNoRun) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "lock");
  EXPECT_TRUE(Claim::take(folder_).has_value());
  EXPECT_TRUE(std::filesystem::exists(folder_)) << "it was there before";
}

TEST_F(RunTest, WhereNothingIsStoredThatIsSaid) {
  EXPECT_THAT(store::Run::open(folder_).error().text(), HasSubstr("no run is stored here"));
}

TEST_F(RunTest, ATornLineIsCutOffBeforeTheNextIsWritten) {
  {
    store::Run run = store::Run::create(folder_, info()).value();
    ASSERT_TRUE(run.append_told({{"elapsed", true}}).has_value());
    ASSERT_TRUE(run.append_told({{"expired", 1}}).has_value());
  }
  const auto journal = folder_ / "journal.jsonl";
  std::filesystem::resize_file(journal, std::filesystem::file_size(journal) - 5);
  {
    store::Run run = store::Run::open(folder_).value();
    EXPECT_EQ(run.contents().told, 1u);
    EXPECT_EQ(run.contents().notes.size(), 1u);
    ASSERT_TRUE(run.append_told({{"expired", 2}}).has_value());
  }
  const store::Run run = store::Run::open(folder_).value();
  EXPECT_EQ(run.contents().lines.back().json, Json({{"expired", 2}}));
  EXPECT_TRUE(run.contents().notes.empty());
}

TEST_F(RunTest, ANewerRunIsRefused) {
  { const store::Run run = store::Run::create(folder_, info()).value(); }
  std::string text = os::read_file(folder_ / "run.json").value();
  text.replace(text.find("ksearch.run/1"), 13, "ksearch.run/9");
  ASSERT_TRUE(os::write_file(folder_ / "run.json", text).has_value());
  EXPECT_THAT(store::Run::open(folder_).error().text(), HasSubstr("ksearch.run/9"));
}

TEST(RunInfo, UnknownKeysAreErrors) {
  Json json = to_json(info());
  EXPECT_TRUE(parse_run_info(json, "run.json").has_value());
  json["colour"] = 1;
  EXPECT_FALSE(parse_run_info(json, "run.json").has_value());
}

}  // namespace
}  // namespace ksearch::store
