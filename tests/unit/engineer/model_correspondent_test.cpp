// A model as a correspondent, and the list of its calls: what was paid for before a kill is not
// paid for again, and all of it is counted once.
#include "engineer/model_correspondent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>

namespace ksearch::engineer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Kind = llm::Failure::Kind;

class Listed final : public llm::Transport {
 public:
  llm::HttpReply post(const llm::HttpRequest&, const llm::HttpLimits&,
                      const std::function<bool()>&) override {
    ++asked;
    if (replies.empty()) return {0, {}, "", llm::Failure{Kind::network, "nobody is there"}};
    llm::HttpReply reply = std::move(replies.front());
    replies.pop_front();
    return reply;
  }
  std::deque<llm::HttpReply> replies;
  int asked = 0;
};

llm::HttpReply whole(const std::string& text, const char* finish = "stop") {
  const base::Json json{
      {"choices", {{{"message", {{"content", text}}}, {"finish_reason", finish}}}},
      {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 10}}}};
  return {200, {{"content-type", "application/json"}}, base::to_line(json), {}};
}
llm::HttpReply bad(int status, const std::string& body = "") { return {status, {}, body, {}}; }

class ModelLetters : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = os::TempFolder::create("ksearch-calls-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  fs::path file() const { return folder_->path() / "calls.jsonl"; }
  LetterReply ask(const Letter& letter) {
    llm::Endpoint endpoint;
    endpoint.base_url = "http://localhost";
    endpoint.wire = &llm::kOpenAiChat;
    endpoint.model = "m";
    endpoint.price = llm::Price{1e-3, 1e-2, {}, {}, 0, 0, {}};
    llm::ClientOptions options;
    options.wait = [](auto) {};
    llm::Client client(endpoint, &transport_, options);
    auto log = CallLog::open(file());
    if (!log) return {Lost{log.error().text()}};
    return make_model_correspondent(&client, log->get())->ask(letter);
  }
  static Letter letter(int asked = 1) {
    Letter letter;
    letter.request = 7;
    letter.kind = "code";
    letter.text = "the question";
    letter.asked = asked;
    return letter;
  }
  static std::string text(const LetterReply& reply) {
    if (const auto* raw = std::get_if<llm::RawReply>(&reply.what)) return raw->text;
    if (const auto* no = std::get_if<Refused>(&reply.what)) return "refused: " + no->why;
    return "lost: " + std::get<Lost>(reply.what).reason;
  }
  std::optional<os::TempFolder> folder_;
  Listed transport_;
};

TEST_F(ModelLetters, CallsThatFailedAreCountedToo) {
  transport_.replies = {bad(500), whole("yes")};
  const LetterReply reply = ask(letter());
  EXPECT_EQ(text(reply), "yes");
  ASSERT_TRUE(reply.usage);
  EXPECT_EQ(reply.usage->calls, 2);
  EXPECT_EQ(reply.usage->tokens_in, 100);
  EXPECT_DOUBLE_EQ(reply.usage->cost_usd, 0.2);
  EXPECT_FALSE(reply.usage->estimated);
}

TEST_F(ModelLetters, AnAnswerThatTheSearchHasNotHeardIsTakenFromTheList) {
  transport_.replies = {whole("yes")};
  const LetterReply first = ask(letter());
  const LetterReply again = ask(letter());  // killed before it was told
  EXPECT_EQ(text(again), "yes");
  EXPECT_EQ(transport_.asked, 1);
  EXPECT_EQ(again.usage->calls, 1);
  EXPECT_DOUBLE_EQ(again.usage->cost_usd, first.usage->cost_usd);
}

TEST_F(ModelLetters, ALossThatWasToldIsNotCountedAgain) {
  const LetterReply lost = ask(letter());
  EXPECT_THAT(text(lost), HasSubstr("lost: m: nobody is there"));
  EXPECT_EQ(lost.usage->calls, 6);
  transport_.replies = {whole("yes")};
  const LetterReply later = ask(letter(2));
  EXPECT_EQ(text(later), "yes");
  EXPECT_EQ(later.usage->calls, 1);
}

TEST_F(ModelLetters, EachTimeALetterWasAskedEndsAgainAsItDid) {
  EXPECT_THAT(text(ask(letter(1))), HasSubstr("lost: m: nobody is there"));
  transport_.replies = {whole("yes")};
  EXPECT_EQ(text(ask(letter(2))), "yes");
  const int asked = transport_.asked;
  const LetterReply first = ask(letter(1));
  EXPECT_EQ(text(first), "lost: m: nobody is there") << "the answer came later";
  EXPECT_EQ(first.usage->calls, 6);
  EXPECT_EQ(text(ask(letter(2))), "yes");
  EXPECT_EQ(transport_.asked, asked) << "nobody was called";
}

TEST_F(ModelLetters, ARefusalIsTakenFromTheListToo) {
  transport_.replies = {bad(413)};
  const std::string refused = text(ask(letter()));
  EXPECT_THAT(refused, HasSubstr("refused"));
  EXPECT_EQ(text(ask(letter())), refused);
  EXPECT_EQ(transport_.asked, 1);
}

TEST_F(ModelLetters, AnAnswerThatWasCutInEveryPartIsTakenFromTheListToo) {
  transport_.replies = {whole("a", "length"), whole("b", "length"), whole("c", "length"),
                        whole("d", "length")};
  EXPECT_EQ(text(ask(letter())), "abcd");
  const LetterReply again = ask(letter());
  EXPECT_EQ(text(again), "abcd");
  EXPECT_EQ(std::get<llm::RawReply>(again.what).stop, llm::RawReply::Stop::max_tokens);
  EXPECT_EQ(transport_.asked, 4);
}

TEST_F(ModelLetters, ACallThatWasCutByAKillCountsAsOne) {
  std::ofstream(file()) << R"({"format":"ksearch.calls/1"})"
                        << "\n"
                        << R"({"begun":{"request":7,"asked":1,"again":0,"part":0,"number":0,)"
                        << R"("kind":"code","model":"m","prompt":"x","tokens":3}})"
                        << "\n"
                        << R"({"ended":{"request":7,"as)";
  transport_.replies = {whole("yes")};
  const LetterReply reply = ask(letter());
  EXPECT_EQ(text(reply), "yes");
  EXPECT_EQ(reply.usage->calls, 2);
  EXPECT_EQ(reply.usage->tokens_in, 103);
  EXPECT_TRUE(reply.usage->estimated);
  EXPECT_TRUE(CallLog::open(file())) << "the torn line is gone";
}

TEST_F(ModelLetters, WhatHadComeWhenTheUserStoppedIsTheBeginningOfTheAnswer) {
  transport_.replies = {{200,
                         {{"content-type", "text/event-stream"}},
                         "data: {\"choices\": [{\"delta\": {\"content\": \"first half, \"}}]}\n\n",
                         llm::Failure{Kind::cancelled, "stopped"}},
                        whole("second half")};
  EXPECT_THAT(text(ask(letter())), HasSubstr("lost"));
  const LetterReply reply = ask(letter());
  EXPECT_EQ(text(reply), "first half, second half");
  EXPECT_EQ(reply.usage->calls, 2);
}

TEST_F(ModelLetters, AnotherQuestionGetsItsOwnAnswer) {
  transport_.replies = {whole("yes"), whole("no")};
  EXPECT_EQ(text(ask(letter())), "yes");
  Letter other = letter();
  other.text = "another question";
  EXPECT_EQ(text(ask(other)), "no");
}

TEST_F(ModelLetters, WhatIsTooLongOrDeclinedCostsAnAttemptAndNoLoss) {
  transport_.replies = {
      bad(400, R"({"error": {"message": "prompt is too long", "type": "invalid_request_error"}})")};
  EXPECT_THAT(text(ask(letter())), HasSubstr("refused: m: prompt is too long"));
  transport_.replies = {whole("I cannot help with that", "content_filter")};
  EXPECT_THAT(text(ask(letter(2))), HasSubstr("refused: the model declined"));
}

TEST_F(ModelLetters, AListThatIsNoListIsRefused) {
  std::ofstream(file()) << "{\"format\":\"ksearch.calls/2\"}\n";
  EXPECT_THAT(text(ask(letter())), HasSubstr("calls.jsonl:1"));
}

}  // namespace
}  // namespace ksearch::engineer
