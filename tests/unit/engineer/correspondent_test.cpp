// Files and programs that answer: what is taken, what is lost, what a resumption finds.
#include "engineer/correspondent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace ksearch::engineer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

class Correspondents : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = os::TempFolder::create("ksearch-letters-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  const fs::path& path() const { return folder_->path(); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name) << text;
  }
  LetterReply exec(const std::string& command, std::chrono::milliseconds limit = 1min) const {
    const auto program = make_exec_correspondent({command, limit, {{"PATH", "/usr/bin:/bin"}}},
                                                 Patience{{}, {}, 5ms});
    return program->ask({7, 1, "code", "T", "the question"});
  }
  static std::string text(const LetterReply& reply) {
    const auto* raw = std::get_if<llm::RawReply>(&reply.what);
    return raw ? raw->text : "lost: " + std::get<Lost>(reply.what).reason;
  }
  std::optional<os::TempFolder> folder_;
};

TEST_F(Correspondents, AFolderGetsTheLetterAndTheAnswerIsTaken) {
  put("0007-answer.txt", "yes");
  const auto folder = make_folder_correspondent(path(), Patience{{}, {}, 1ms});
  EXPECT_EQ(text(folder->ask({7, 0, "code", "T", "the question"})), "yes");
  const std::string letter = os::read_file(path() / "0007-code.md").value();
  EXPECT_TRUE(letter.starts_with("the question\n"));
  EXPECT_THAT(letter, HasSubstr("0007-answer.md"));
}

TEST_F(Correspondents, ALetterThatIsThereStaysAsItIs) {
  put("0007-code.md", "as it was asked");
  put("0007-answer.md", "yes");
  const auto folder = make_folder_correspondent(path(), Patience{{}, {}, 1ms});
  EXPECT_EQ(text(folder->ask({7, 0, "code", "T", "another text"})), "yes");
  EXPECT_EQ(os::read_file(path() / "0007-code.md").value(), "as it was asked");
}

TEST_F(Correspondents, WaitingSaysForWhatAndEndsWhenItIsGivenUp) {
  int looks = 0;
  std::vector<std::string> said;
  const auto folder = make_folder_correspondent(
      path(), Patience{[&] { return ++looks > 3; },
                       [&](const std::string& what) { said.push_back(what); }, 1ms});
  EXPECT_THAT(text(folder->ask({7, 0, "code", "T", "q"})),
              HasSubstr("lost: stopped while waiting"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("0007-answer.md (code: T)"));
}

TEST_F(Correspondents, WhyTheLastAnswerWasRefusedIsSaidBeforeTheNextIsWaitedFor) {
  std::vector<std::string> said;
  const auto say = [&](const std::string& what) { said.push_back(what); };
  Letter letter{7, 1, "code", "T", "q"};
  letter.refusal = "answer 0007 could not be used: no file";
  const auto folder = make_folder_correspondent(path(), Patience{[] { return true; }, say, 1ms});
  folder->ask(letter);
  const auto program = make_exec_correspondent({"true", 1min, {}}, Patience{{}, say, 1ms});
  program->ask(letter);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], letter.refusal);
  EXPECT_EQ(said[1], letter.refusal);
  EXPECT_THAT(said[2], HasSubstr("true is asked"));
}

TEST_F(Correspondents, WhatIsWrongWithAnAnswersFileIsSaidOnceAndTheWaitGoesOn) {
  put("0007-answer.md", "\n");
  int looks = 0;
  std::vector<std::string> said;
  const auto folder = make_folder_correspondent(
      path(), Patience{[&] {
                         if (++looks == 4) {
                           fs::remove(path() / "0007-answer.md");
                           fs::create_directory(path() / "0007-answer.md");
                         }
                         if (looks == 8) {
                           fs::remove(path() / "0007-answer.md");
                           put("0007-answer.md", "yes");
                         }
                         return looks > 20;
                       },
                       [&](const std::string& what) { said.push_back(what); }, 1ms});
  EXPECT_EQ(text(folder->ask({7, 0, "code", "T", "q"})), "yes");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], HasSubstr("0007-answer.md is empty"));
  EXPECT_THAT(said[1], HasSubstr("0007-answer.md: is no file; still waiting"));
}

TEST_F(Correspondents, AnAnswerIsTakenWhenItHasStoppedGrowing) {
  put("0007-answer.md", "half");
  int looks = 0;
  const auto folder =
      make_folder_correspondent(path(), Patience{[&] {
                                                   if (++looks == 1)
                                                     put("0007-answer.md", "half and whole");
                                                   return false;
                                                 },
                                                 {},
                                                 1ms});
  EXPECT_EQ(text(folder->ask({7, 0, "code", "T", "q"})), "half and whole");
}

TEST_F(Correspondents, ANewRunWantsAFolderWithoutLetters) {
  put("notes.md", "mine");
  EXPECT_TRUE(check_new_folder(path()));
  put("0007-code.md", "old");
  const auto checked = check_new_folder(path());
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text(), HasSubstr("0007-code.md"));
  EXPECT_TRUE(check_new_folder(path() / "new"));
}

TEST_F(Correspondents, AProgramReadsTheLetterAndWritesTheAnswer) {
  EXPECT_EQ(text(exec("cat; echo \" $KSEARCH_REQUEST $KSEARCH_KIND\"; echo noise >&2")),
            "the question 0007b code\n");
}

TEST_F(Correspondents, AProgramThatFailsIsLostWithItsLastWord) {
  EXPECT_THAT(text(exec("echo first >&2; echo no key >&2; exit 3")),
              HasSubstr("ended with status 3: no key"));
  EXPECT_THAT(text(exec("kill -9 $$")), HasSubstr("ended by signal 9"));
  EXPECT_THAT(text(exec("sleep 60", 20ms)), HasSubstr("no answer within"));
}

}  // namespace
}  // namespace ksearch::engineer
