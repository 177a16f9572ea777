// Answers of folders, programs and agents in the list of calls: kept once, taken from it on a
// resumption and in a replay, and damage is found where it is.
#include "engineer/logged_correspondent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engineer/recorded_agent.h"
#include "unit/engineer/letters.h"

namespace ksearch::engineer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LoggedLetters : public testing::Test {
 protected:
  fs::path file() const { return folder_->path() / "calls.jsonl"; }
  /// Asks somebody with these answers; counts the letters that reached him.
  LetterReply ask(std::vector<std::string> answers, const Letter& letter, bool stopped = false) {
    auto somebody = std::make_unique<Scripted>(std::move(answers));
    const Scripted& asked = *somebody;
    const auto log = must(CallLog::open(file()));
    const auto logged =
        make_logged_correspondent(std::move(somebody), log.get(), [stopped] { return stopped; });
    LetterReply reply = logged->ask(letter);
    asked_ += asked.letters.size();
    return reply;
  }
  LetterReply replay(const Letter& letter) const {
    const auto log = must(CallLog::read(file()));
    return make_recorded_correspondent(log.get())->ask(letter);
  }
  static Letter letter(std::string text = "the question", int asked = 1) {
    Letter letter;
    letter.request = 7;
    letter.kind = "code";
    letter.text = std::move(text);
    letter.asked = asked;
    return letter;
  }
  static std::string text(const LetterReply& reply) {
    const auto* raw = std::get_if<llm::RawReply>(&reply.what);
    return raw ? raw->text : "lost: " + std::get<Lost>(reply.what).reason;
  }
  std::optional<os::TempFolder> folder_ = must(os::TempFolder::create("ksearch-logged-"));
  std::size_t asked_ = 0;
};

TEST_F(LoggedLetters, AFileWithoutOneWholeLineIsDamagedNotTorn) {
  ASSERT_TRUE(os::write_file(file(), std::string(9000, 'x')));
  EXPECT_FALSE(CallLog::open(file()));
  EXPECT_EQ(fs::file_size(file()), 9000u);
  ASSERT_TRUE(os::write_file(file(), "{\"form"));  // cut off while it was begun
  EXPECT_TRUE(CallLog::open(file()));
}

TEST_F(LoggedLetters, AnAnswerIsKeptAndNotAskedForAgain) {
  const LetterReply first = ask({"yes"}, letter());
  EXPECT_EQ(text(first), "yes");
  const LetterReply again = ask({"no"}, letter());  // killed before it was told
  EXPECT_EQ(text(again), "yes");
  EXPECT_EQ(asked_, 1u);
  for (const LetterReply& reply : {first, again, replay(letter())}) {
    EXPECT_EQ(reply.usage->calls, 1);
    EXPECT_EQ(reply.usage->tokens_in, 3);
    EXPECT_EQ(reply.usage->tokens_out, 1);
    EXPECT_TRUE(reply.usage->estimated);
  }
}

TEST_F(LoggedLetters, AnEmptyAnswerIsAnAnswer) {
  EXPECT_EQ(text(ask({""}, letter())), "");
  EXPECT_EQ(text(replay(letter())), "");
}

TEST_F(LoggedLetters, ALossIsTheSameLossAndIsAskedAgainWhenTheSearchAsksAgain) {
  EXPECT_EQ(text(ask({}, letter())), "lost: nothing more to say");
  EXPECT_EQ(text(ask({"yes"}, letter("the question", 2))), "yes");
  EXPECT_EQ(text(replay(letter())), "lost: nothing more to say");
  EXPECT_EQ(replay(letter()).usage->calls, 1);
  EXPECT_EQ(text(replay(letter("the question", 2))), "yes");
  EXPECT_EQ(asked_, 2u);
}

TEST_F(LoggedLetters, WhoWasNotWaitedForIsAskedAgainAndTookNothing) {
  const LetterReply stopped = ask({}, letter(), true);
  EXPECT_EQ(stopped.usage->calls, 0);
  EXPECT_EQ(text(replay(letter())), text(stopped)) << "where the clock ended it for good";
  EXPECT_EQ(text(ask({"yes"}, letter())), "yes");
  EXPECT_EQ(replay(letter()).usage->calls, 1);
}

TEST_F(LoggedLetters, AnAnswerThatNobodyReadsCountsNoTokens) {
  EXPECT_EQ(ask({std::string(kLargestAnswer + 1, 'x')}, letter()).usage->tokens_out, 0);
}

TEST_F(LoggedLetters, WhatTheListDoesNotHaveIsNamed) {
  ask({"yes"}, letter());
  EXPECT_THAT(text(replay(letter("another question"))),
              HasSubstr("calls.jsonl:2 has the answer to another question 0007 (code)"));
  Letter other = letter();
  other.request = 8;
  EXPECT_THAT(text(replay(other)), HasSubstr("calls.jsonl has no answer to question 0008 (code)"));
  fs::resize_file(file(), fs::file_size(file()) - 1);
  EXPECT_THAT(text(replay(other)), HasSubstr("its last line is torn"));
}

TEST_F(LoggedLetters, DamageIsFoundWhereItIs) {
  ask({"yes"}, letter());
  const std::string whole = must(os::read_file(file()));
  const auto damage = [&](std::string bytes) {
    std::ofstream(file()) << bytes;
    const auto log = CallLog::read(file());
    return log ? "" : log.error().text();
  };
  std::string changed = whole;
  changed.replace(whole.find("yes"), 3, "yet");
  EXPECT_THAT(damage(changed), HasSubstr("calls.jsonl:3: damaged: the sum of the line is wrong"));
  std::string lines = whole;
  const std::size_t second = lines.find('\n') + 1;
  lines.erase(second, lines.find('\n', second) + 1 - second);
  EXPECT_THAT(damage(lines), HasSubstr("calls.jsonl:2: damaged: a call ends that has not begun"));
  const std::string twice = whole + whole.substr(second);
  EXPECT_THAT(damage(twice),
              HasSubstr("calls.jsonl:4: damaged: the call of line 2 begins a second time"));
  EXPECT_EQ(damage(whole), "");
}

TEST_F(LoggedLetters, AnAnswerThatWasTakenOutIsSaidToBeMissing) {
  ask({"yes"}, letter());
  const std::string whole = must(os::read_file(file()));
  std::ofstream(file()) << whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1);
  EXPECT_THAT(text(replay(letter())),
              HasSubstr("calls.jsonl:2 asks question 0007 (code), and no line has the answer"));
  EXPECT_EQ(must(CallLog::read(file()))->lacks(1), "");
}

// Emptied or replaced while the run was stopped: it goes on, and says what cannot be had again.
TEST_F(LoggedLetters, CallsThatTheSearchKnowsAndTheListDoesNotAreSaidToBeLost) {
  std::ofstream(file()).close();
  EXPECT_THAT(must(CallLog::open(file()))->lacks(5),
              HasSubstr("calls.jsonl has none of the 5 calls that the run was told of"));
  ask({"yes"}, letter());
  EXPECT_THAT(must(CallLog::open(file()))->lacks(5), HasSubstr("has 1 of the 5 calls"));
  EXPECT_EQ(must(CallLog::open(file()))->lacks(1), "");
}

TEST_F(LoggedLetters, AnAgentsFilesAndPlanComeBackAsTheyWere) {
  const Brief brief = softmax_brief();
  CodeRequest request;
  request.id = 7;
  request.task = "softmax";
  request.node_id = "a";
  request.action = tree::Action{.title = "a"};
  const kernel::Program& program = *brief.example;
  base::Json plan = kernel::to_json(program);
  for (const char* key : {"format", "task", "dialect", "sources", "select"}) plan.erase(key);
  const Question question = softmax_prompts().code(request);
  {
    const auto log = must(CallLog::open(file()));
    ASSERT_TRUE(
        keep_answer(*log, agent_letter(7, 1, question), submitted_text(plan, program.sources)));
  }
  const auto log = must(CallLog::read(file()));
  RecordedAgent agent(&softmax_prompts(), &brief.definition, log.get());
  const CodeReply reply = agent.code(request);
  ASSERT_TRUE(std::holds_alternative<kernel::Program>(reply.what));
  EXPECT_EQ(std::get<kernel::Program>(reply.what).hash(), program.hash());
  EXPECT_EQ(reply.usage.calls, 0) << "what an agent takes nobody knows";
  request.action->title = "b";
  EXPECT_THAT(std::get<Lost>(agent.code(request).what).reason, HasSubstr("another question"));
}

}  // namespace
}  // namespace ksearch::engineer
