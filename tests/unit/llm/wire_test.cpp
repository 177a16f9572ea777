// Wire formats: requests as the providers' references have them, replies whole and in streams, and
// everything that can come instead of a reply.
#include "llm/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/sse.h"

namespace ksearch::llm {
namespace {

using base::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Failure::Kind;
using Stop = Said::Stop;

Ask ask() {
  Ask ask;
  ask.model = "m";
  ask.turns = {{Turn::By::user, "spec question"}};
  ask.shared = 5;
  ask.max_output = 100;
  ask.json = true;
  return ask;
}
Json json(const char* text) { return *base::parse_json(text, "test"); }
Headers of_type(const char* type) { return {{"content-type", type}}; }
Got<Said> reply(const Wire& wire, int status, const std::string& body,
                const char* type = "application/json") {
  return read_reply(wire, status, of_type(type), body);
}
std::string events(std::initializer_list<const char*> data) {
  std::string body;
  for (const char* one : data) body += "data: " + std::string(one) + "\n\n";
  return body;
}

TEST(Wire, ChatRequest) {
  EXPECT_EQ(kOpenAiChat.request(ask(), {.max_tokens = "max_completion_tokens"}), json(R"({
    "model": "m", "messages": [{"role": "user", "content": "spec question"}],
    "max_completion_tokens": 100, "response_format": {"type": "json_object"}, "stream": true,
    "stream_options": {"include_usage": true}})"));
  Ask plain = ask();
  plain.json = plain.stream = false;
  plain.max_output = 0;
  plain.turns.push_back({Turn::By::model, "half"});
  EXPECT_EQ(kOpenAiChat.request(plain, {}), json(R"({"model": "m", "messages": [
    {"role": "user", "content": "spec question"}, {"role": "assistant", "content": "half"}]})"));
}

TEST(Wire, ResponsesRequest) {
  EXPECT_EQ(kOpenAiResponses.request(ask(), {}), json(R"({
    "model": "m", "input": [{"role": "user", "content": "spec question"}], "store": false,
    "max_output_tokens": 100, "text": {"format": {"type": "json_object"}}, "stream": true})"));
}

TEST(Wire, MessagesRequestMarksWhatCallsShare) {
  EXPECT_EQ(kAnthropicMessages.request(ask(), {}), json(R"({
    "model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": [
      {"type": "text", "text": "spec ", "cache_control": {"type": "ephemeral"}},
      {"type": "text", "text": "question"}]}], "stream": true})"));
  Ask bare = ask();
  bare.max_output = 0;
  bare.shared = bare.turns[0].text.size();
  const Json request = kAnthropicMessages.request(bare, {});
  EXPECT_EQ(request["max_tokens"], 8192) << "the format wants a limit";
  EXPECT_EQ(request["messages"][0]["content"].size(), 1u) << "an empty block is refused";
}

TEST(Wire, AddressesAreNotDoubled) {
  EXPECT_EQ(address(kOpenAiChat, "http://localhost:8080"),
            "http://localhost:8080/v1/chat/completions");
  EXPECT_EQ(address(kOpenAiChat, "http://localhost:8080/v1/"),
            "http://localhost:8080/v1/chat/completions");
  EXPECT_EQ(address(kOpenAiChat, "https://host/v1beta/openai"),
            "https://host/v1beta/openai/chat/completions");
  EXPECT_EQ(address(kAnthropicMessages, "https://host/v1/messages"), "https://host/v1/messages");
}

TEST(Wire, ChatReply) {
  const auto said = reply(kOpenAiChat, 200, R"({"choices": [{"message": {"content": "yes"},
    "finish_reason": "length"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
    "prompt_tokens_details": {"cached_tokens": 4}}})");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "yes");
  EXPECT_EQ(said->stop, Stop::max_tokens);
  EXPECT_EQ(*said->tokens, (Tokens{9, 4, 0, 2}));
  const auto no =
      reply(kOpenAiChat, 200, R"({"choices": [{"message": {"content": null, "refusal": "no"}}]})");
  ASSERT_TRUE(no);
  EXPECT_EQ(no->stop, Stop::declined);
  EXPECT_FALSE(no->tokens);
}

TEST(Wire, ChatStream) {
  const auto said =
      reply(kOpenAiChat, 200,
            events({R"({"choices": [{"delta": {"role": "assistant", "content": ""}}]})",
                    R"({"choices": [{"delta": {"content": "a "}}]})",
                    R"({"choices": [{"delta": {"content": "b"}}]})",
                    R"({"choices": [{"delta": {}, "finish_reason": "stop"}]})",
                    R"({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})",
                    "[DONE]"}),
            "text/event-stream; charset=utf-8");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "a b");
  EXPECT_EQ(said->stop, Stop::stop);
  EXPECT_EQ(*said->tokens, (Tokens{3, 0, 0, 2}));
}

TEST(Wire, ResponsesReplyAndStream) {
  const std::string whole =
      R"({"status": "incomplete", "error": null, "incomplete_details": {"reason":
    "max_output_tokens"}, "output": [{"type": "reasoning", "summary": []}, {"type": "message",
    "content": [{"type": "output_text", "text": "ab"}]}], "usage": {"input_tokens": 5,
    "output_tokens": 7, "input_tokens_details": {"cached_tokens": 1}}})";
  const auto said = reply(kOpenAiResponses, 200, whole);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "ab");
  EXPECT_EQ(said->stop, Stop::max_tokens);
  EXPECT_EQ(*said->tokens, (Tokens{5, 1, 0, 7}));
  std::string line = whole;
  std::erase(line, '\n');
  const std::string last = R"({"type": "response.incomplete", "response": )" + line + "}";
  const auto streamed =
      reply(kOpenAiResponses, 200,
            events({R"({"type": "response.created", "response": {"error": null}})",
                    R"({"type": "response.output_text.delta", "delta": "ab"})", last.c_str()}),
            "text/event-stream");
  ASSERT_TRUE(streamed);
  EXPECT_EQ(streamed->text, "ab");
  EXPECT_EQ(streamed->stop, Stop::max_tokens);
  EXPECT_EQ(*streamed->tokens, (Tokens{5, 1, 0, 7}));
}

TEST(Wire, MessagesCountsAreSums) {
  const auto said = reply(kAnthropicMessages, 200, R"({"content": [{"type": "thinking", "thinking":
    "hm"}, {"type": "text", "text": "yes"}], "stop_reason": "end_turn", "usage": {"input_tokens": 2,
    "cache_read_input_tokens": 30, "cache_creation_input_tokens": 4, "output_tokens": 5}})");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "yes");
  EXPECT_EQ(*said->tokens, (Tokens{36, 30, 4, 5}));
  const auto streamed = reply(
      kAnthropicMessages, 200,
      events(
          {R"({"type": "message_start", "message": {"usage": {"input_tokens": 2, "cache_read_input_tokens": 30, "output_tokens": 1}}})",
           R"({"type": "ping"})",
           R"({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "x"}})",
           R"({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "yes"}})",
           R"({"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 9}})",
           R"({"type": "message_stop"})"}),
      "text/event-stream");
  ASSERT_TRUE(streamed);
  EXPECT_EQ(streamed->text, "yes");
  EXPECT_EQ(streamed->stop, Stop::declined);
  EXPECT_EQ(*streamed->tokens, (Tokens{32, 30, 0, 9}));
}

struct Bad {
  int status;
  const char* body;
  Kind kind;
};

TEST(Wire, WhatComesInsteadOfAReply) {
  const Bad kBad[] = {
      {429, R"({"error": {"message": "slow down", "type": "rate_limit_error"}})", Kind::busy},
      {429,
       R"({"error": {"message": "You exceeded your current quota, check plan and billing", "status": "RESOURCE_EXHAUSTED"}})",
       Kind::busy},
      {429,
       R"({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})",
       Kind::quota},
      {400, R"({"error": {"message": "Your credit balance is too low"}})", Kind::quota},
      {529, R"({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})",
       Kind::busy},
      {500, "upstream connect error", Kind::server},
      {503, "", Kind::server},
      {501, "", Kind::bad_request},
      {401, R"({"error": {"message": "Incorrect API key"}})", Kind::denied},
      {404, R"({"error": {"message": "The model does not exist", "code": "model_not_found"}})",
       Kind::no_model},
      {400,
       R"({"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}})",
       Kind::context_full},
      {400,
       R"({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 250000 tokens"}})",
       Kind::context_full},
      {400, R"({"error": {"message": "bad", "code": "content_filter"}})", Kind::declined},
      {400, R"({"error": {"message": "no such thing", "type": "invalid_request_error"}})",
       Kind::bad_request},
      {200, R"({"error": {"message": "Overloaded", "type": "overloaded_error"}})", Kind::busy},
      {200, R"({"error": {"message": "boom", "code": 502}})", Kind::server},
      {200, R"({"error": "boom"})", Kind::server},
      {200, R"({"choices": []})", Kind::malformed},
      {200, R"({"choices": [{"message": {"content": " \n"}}]})", Kind::empty},
      {200, R"({"choices": [{"message": {"content": "cut)", Kind::malformed},
      {200, "<html><h1>Welcome</h1></html>", Kind::malformed},
      {200, "", Kind::malformed}};
  for (const Bad& bad : kBad) {
    const auto said = reply(kOpenAiChat, bad.status, bad.body);
    ASSERT_FALSE(said) << bad.body;
    EXPECT_EQ(name(said.error().kind), name(bad.kind)) << bad.body;
  }
}

TEST(Wire, NamesTheParameterThatIsNotKnown) {
  const auto of = [](const char* body) { return reply(kOpenAiChat, 400, body).error(); };
  const Failure named = of(
      R"({"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "param": "max_tokens"}})");
  EXPECT_EQ(named.kind, Kind::parameter);
  EXPECT_EQ(named.parameter, "max_tokens");
  EXPECT_EQ(
      of(R"({"error": {"message": "Unrecognized request argument: stream_options"}})").parameter,
      "stream_options");
}

TEST(Wire, AStreamThatEndsEarlyIsNoAnswer) {
  const char* begun = R"({"choices": [{"delta": {"content": "half of"}}]})";
  const auto cut = reply(kOpenAiChat, 200, events({begun}), "text/event-stream");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, Kind::network);
  EXPECT_THAT(cut.error().message, HasSubstr("cut after 7 characters"));
  Said so_far;
  EXPECT_FALSE(read_stream(kOpenAiChat, events({begun}), &so_far));
  EXPECT_EQ(so_far.text, "half of");
  const auto failed =
      reply(kOpenAiChat, 200,
            events({begun, R"({"error": {"message": "Overloaded", "type": "overloaded_error"}})"}),
            "text/event-stream");
  EXPECT_EQ(failed.error().kind, Kind::busy);
  EXPECT_EQ(reply(kOpenAiChat, 200, "", "text/event-stream").error().kind, Kind::malformed);
  EXPECT_EQ(reply(kAnthropicMessages, 200,
                  events({R"({"type": "error", "error": {"type": "api_error", "message": "x"}})"}),
                  "text/event-stream")
                .error()
                .kind,
            Kind::server);
}

TEST(Sse, LinesAndEndsOfAllKinds) {
  EXPECT_THAT(sse_data("\xef\xbb\xbf"
                       ": comment\r\nevent: x\r\ndata: a\r\n\r\ndata:b\ndata\ndata:  c\n\n"
                       "database: no\n\nid: 7\n\ndata: d\r\rdata: cut off\n"),
              ElementsAre("a", "b\n\n c", "d"));
  EXPECT_TRUE(sse_data("").empty());
}

TEST(RetryAfter, SecondsMillisecondsAndDates) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::system_clock::from_time_t(784111777);  // RFC 9110's example
  const auto after = [&](const char* name, const char* value) {
    return retry_after({{name, value}}, now);
  };
  EXPECT_EQ(after("retry-after", "7"), 7000ms);
  EXPECT_EQ(after("retry-after", "0.25"), 250ms);
  EXPECT_EQ(after("retry-after-ms", "120"), 120ms);
  EXPECT_EQ(after("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), 10000ms);
  EXPECT_EQ(after("retry-after", "Sun, 06 Nov 1994 08:49:27 GMT"), 0ms);
  for (const char* bad : {"", "soon", "-1", "1e300", "nan"})
    EXPECT_EQ(after("retry-after", bad), std::nullopt) << bad;
  EXPECT_EQ(after("x", "1"), std::nullopt);
}

}  // namespace
}  // namespace ksearch::llm
