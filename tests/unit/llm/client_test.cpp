// A client on a transport that answers from a list: what is repeated, how long it waits, how
// answers in parts are put together, what is counted.
#include "llm/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace ksearch::llm {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = Failure::Kind;

class Listed final : public Transport {
 public:
  explicit Listed(std::vector<HttpReply> replies) : replies_(replies.begin(), replies.end()) {}
  HttpReply post(const HttpRequest& request, const HttpLimits&,
                 const std::function<bool()>&) override {
    requests.push_back(request);
    if (replies_.empty()) return {0, {}, "", Failure{Kind::network, "no more"}};
    HttpReply reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }
  base::Json body(std::size_t i) const { return *base::parse_json(requests.at(i).body, "body"); }
  std::vector<HttpRequest> requests;

 private:
  std::deque<HttpReply> replies_;
};

class Keep final : public CallWatch {
 public:
  void begun(int, int) override { ++begun_; }
  void ended(const Call& call) override { calls.push_back(call); }
  std::vector<Call> calls;
  int begun_ = 0;
};

HttpReply whole(const std::string& text, const char* finish = "stop") {
  const base::Json json{
      {"choices", {{{"message", {{"content", text}}}, {"finish_reason", finish}}}},
      {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 10}}}};
  return {200, {{"content-type", "application/json"}}, base::to_line(json), {}};
}
HttpReply bad(int status, const std::string& body = "", Headers headers = {}) {
  return {status, std::move(headers), body, {}};
}

struct Bench {
  explicit Bench(std::vector<HttpReply> replies) : transport(std::move(replies)) {
    endpoint.base_url = "http://localhost/v1";
    endpoint.wire = &kOpenAiChat;
    endpoint.key = "sk-secret";
    endpoint.model = "m";
    endpoint.price = Price{1e-3, 1e-2, {}, {}, 0, 0, {}};
    options.wait = [this](milliseconds time) { waits.push_back(time); };
  }
  Got<Said> ask(std::vector<std::string> parts = {}) {
    Client client(endpoint, &transport, options);
    auto said = client.complete({"question", 0, false}, std::move(parts), keep);
    notes = client.notes();
    return said;
  }
  Listed transport;
  Endpoint endpoint;
  ClientOptions options;
  Keep keep;
  std::vector<milliseconds> waits;
  std::vector<std::string> notes;
};

TEST(Client, RepeatsWhatPassesWithLongerWaits) {
  Bench bench({bad(500), bad(503), bad(429), whole("yes")});
  const auto said = bench.ask();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "yes");
  ASSERT_EQ(bench.waits.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(bench.waits[i], milliseconds(500 << i));
    EXPECT_LE(bench.waits[i], milliseconds(1000 << i));
  }
  ASSERT_EQ(bench.keep.calls.size(), 4u);
  EXPECT_EQ(bench.keep.begun_, 4);
  EXPECT_EQ(bench.keep.calls[0].tokens, Tokens{});
  EXPECT_DOUBLE_EQ(bench.keep.calls[3].cost_usd, 0.2);
  EXPECT_THAT(bench.transport.requests[0].headers,
              testing::Contains("Authorization: Bearer sk-secret"));
}

TEST(Client, JitterIsOfTheSeedAndTheModel) {
  const auto waits = [](std::uint64_t seed, const char* model) {
    Bench bench({bad(500), bad(503), bad(429), whole("yes")});
    bench.options.seed = seed;
    bench.endpoint.model = model;
    EXPECT_TRUE(bench.ask());
    return bench.waits;
  };
  EXPECT_EQ(waits(7, "m"), waits(7, "m"));
  EXPECT_NE(waits(7, "m"), waits(8, "m"));
  EXPECT_NE(waits(7, "m"), waits(7, "other"));
}

TEST(Client, WaitsAsLongAsTheServerSays) {
  Bench bench({bad(429, "", {{"retry-after", "20"}}), whole("yes")});
  ASSERT_TRUE(bench.ask());
  EXPECT_GE(bench.waits.at(0), 20s);
  EXPECT_LE(bench.waits.at(0), 22s);
  Bench patient({bad(429, "", {{"retry-after", "86400"}}), whole("yes")});
  EXPECT_EQ(patient.ask().error().kind, Kind::busy) << "a day is too long";
  EXPECT_TRUE(patient.waits.empty());
}

TEST(Client, WhatDoesNotPassIsNotRepeatedAndTheKeyIsNotTold) {
  Bench bench({bad(401, R"({"error": {"message": "Incorrect API key provided: sk-secret"}})")});
  const auto said = bench.ask();
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().kind, Kind::denied);
  EXPECT_THAT(said.error().message, HasSubstr("[key]"));
  EXPECT_THAT(said.error().message, Not(HasSubstr("secret")));
  EXPECT_EQ(bench.transport.requests.size(), 1u);
}

TEST(Client, GivesUpAfterItsTries) {
  Bench bench({});
  EXPECT_EQ(bench.ask().error().kind, Kind::network);
  EXPECT_EQ(bench.transport.requests.size(), 6u);
  Bench empty({whole(""), whole(""), whole(""), whole("late")});
  EXPECT_EQ(empty.ask().error().kind, Kind::empty);
  EXPECT_EQ(empty.keep.calls.size(), 3u);
  Bench mixed({bad(500), bad(429), whole(""), whole("yes")});
  EXPECT_TRUE(mixed.ask()) << "one empty answer, whatever else failed before";
}

TEST(Client, GoesOnWhereAnAnswerWasCut) {
  const std::string first = "void kernel() { // the first half of it";
  Bench bench({whole(first, "length"), whole("{ // the first half of it, and the second }")});
  const auto said = bench.ask();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, first + ", and the second }") << "what is repeated is left out";
  EXPECT_EQ(said->stop, Said::Stop::stop);
  const base::Json messages = bench.transport.body(1)["messages"];
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0]["content"], "question");
  EXPECT_EQ(messages[1]["content"], first);
  EXPECT_EQ(bench.keep.calls[1].part, 1);
}

TEST(Client, StopsGoingOnAfterSomeParts) {
  Bench bench({whole("a", "length"), whole("b", "length"), whole("c", "length"),
               whole("d", "length"), whole("e")});
  const auto said = bench.ask();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "abcd");
  EXPECT_EQ(said->stop, Said::Stop::max_tokens);
}

TEST(Client, TakesUpPartsOfBefore) {
  Bench bench({whole("second")});
  EXPECT_EQ(bench.ask({"first "})->text, "first second");
  EXPECT_EQ(bench.transport.body(0)["messages"][1]["content"], "first ");
}

TEST(Client, DoesWithoutWhatAServerDoesNotKnow) {
  const char* unknown =
      R"({"error": {"message": "Unrecognized request argument supplied: stream_options"}})";
  Bench bench({bad(400, unknown), whole("yes")});
  ASSERT_TRUE(bench.ask());
  EXPECT_TRUE(bench.transport.body(0).contains("stream_options"));
  EXPECT_FALSE(bench.transport.body(1).contains("stream_options"));
  EXPECT_TRUE(bench.waits.empty());
  EXPECT_THAT(bench.notes, ElementsAre(HasSubstr("does not take stream_options")));
  Bench stubborn({bad(400, unknown), bad(400, unknown)});
  EXPECT_EQ(stubborn.ask().error().kind, Kind::parameter) << "once only";
}

TEST(Client, WhatCannotStreamIsAskedInOnePiece) {
  const HttpReply cannot{500,
                         {{"content-type", "text/event-stream"}},
                         "data: {\"error\": {\"message\": \"Error processing stream start\"}}\n\n",
                         {}};
  Bench bench({cannot, cannot, whole("yes")});
  ASSERT_TRUE(bench.ask());
  EXPECT_THAT(bench.keep.calls[0].failure->message,
              testing::StartsWith("Error processing stream start"));
  EXPECT_TRUE(bench.transport.body(1).contains("stream")) << "once may be an accident";
  EXPECT_FALSE(bench.transport.body(2).contains("stream"));
  EXPECT_EQ(bench.waits.size(), 1u);
  Bench upstream(
      {bad(502, "upstream connect error"), bad(502, "upstream connect error"), whole("yes")});
  ASSERT_TRUE(upstream.ask());
  EXPECT_TRUE(upstream.transport.body(2).contains("stream"));
}

TEST(Client, ACutStreamIsPaidForAndEstimated) {
  HttpReply cut{200,
                {{"content-type", "text/event-stream"}},
                "data: {\"choices\": [{\"delta\": {\"content\": \"twelve chars\"}}]}\n\n",
                Failure{Kind::network, "connection reset"}};
  Bench bench({cut, whole("yes")});
  ASSERT_TRUE(bench.ask());
  const Call& call = bench.keep.calls[0];
  EXPECT_EQ(call.text, "twelve chars");
  EXPECT_TRUE(call.estimated);
  EXPECT_EQ(call.tokens, (Tokens{2, 0, 0, 3}));
  EXPECT_FALSE(bench.keep.calls[1].estimated);
}

TEST(Client, CancelledWhileItWaits) {
  Bench bench({bad(500)});
  bench.options.cancelled = [&] { return !bench.waits.empty(); };
  EXPECT_EQ(bench.ask().error().kind, Kind::cancelled);
}

TEST(Client, QuirksAreLaidOverTheRequest) {
  Bench bench({whole("yes")});
  bench.endpoint.quirks.body = {{"reasoning_effort", "low"}, {"stream_options", nullptr}};
  bench.endpoint.quirks.max_output = 500;
  bench.options.max_output = 9000;
  ASSERT_TRUE(bench.ask());
  const base::Json body = bench.transport.body(0);
  EXPECT_EQ(body["reasoning_effort"], "low");
  EXPECT_EQ(body["max_tokens"], 500) << "no more than the model can";
  EXPECT_FALSE(body.contains("stream_options"));
}

}  // namespace
}  // namespace ksearch::llm
