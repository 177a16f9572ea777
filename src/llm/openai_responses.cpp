// OpenAI Responses.
#include "llm/wire.h"

namespace ksearch::llm {
namespace {

using base::Json;

Json responses_request(const Ask& ask, const Quirks& quirks) {
  Json input = Json::array();
  for (const Turn& turn : ask.turns)
    input.push_back(
        {{"role", turn.by == Turn::By::user ? "user" : "assistant"}, {"content", turn.text}});
  Json json{{"model", ask.model}, {"input", std::move(input)}, {"store", false}};
  if (ask.max_output > 0) json["max_output_tokens"] = ask.max_output;
  if (ask.json && quirks.json) json["text"] = {{"format", {{"type", "json_object"}}}};
  if (ask.stream) json["stream"] = true;
  return json;
}

std::optional<Tokens> responses_tokens(const Json& json) {
  const Json& usage = at(json, "usage");
  if (!usage.is_object()) return std::nullopt;
  Tokens tokens;
  tokens.in = count_at(usage, "input_tokens");
  tokens.out = count_at(usage, "output_tokens");
  tokens.cached = count_at(at(usage, "input_tokens_details"), "cached_tokens");
  return tokens;
}

/// How it ended, out of a whole response object.
void take_end(Said& said, const Json& json) {
  const std::string status = text_at(json, "status");
  const std::string reason = text_at(at(json, "incomplete_details"), "reason");
  if (status == "incomplete" && reason == "content_filter")
    said.stop = Said::Stop::declined;
  else if (status == "incomplete")
    said.stop = Said::Stop::max_tokens;
  else if (said.stop == Said::Stop::unknown)
    said.stop = Said::Stop::stop;
  if (const auto tokens = responses_tokens(json)) said.tokens = tokens;
}

Got<Said> responses_reply(const Json& json) {
  const Json& output = at(json, "output");
  if (!output.is_array())
    return std::unexpected(Failure{Failure::Kind::malformed, "the reply has no output"});
  if (text_at(json, "status") == "failed")
    return std::unexpected(Failure{Failure::Kind::server, "the response failed"});
  Said said;
  for (const Json& item : output) {
    if (text_at(item, "type") != "message") continue;  // reasoning, tool calls
    const Json& content = at(item, "content");
    if (!content.is_array()) continue;
    for (const Json& part : content) {
      said.text += text_at(part, "text");
      if (const std::string refusal = text_at(part, "refusal"); !refusal.empty()) {
        said.text += refusal;
        said.stop = Said::Stop::declined;
      }
    }
  }
  take_end(said, json);
  return said;
}

void responses_event(Streamed& so_far, const Json& data) {
  const std::string type = text_at(data, "type");
  if (type == "response.output_text.delta") {
    so_far.said.text += text_at(data, "delta");
  } else if (type == "response.refusal.delta") {
    so_far.said.text += text_at(data, "delta");
    so_far.said.stop = Said::Stop::declined;
  } else if (type == "response.completed" || type == "response.incomplete") {
    const Json& response = at(data, "response");
    // A server that sends no deltas says everything at the end.
    if (so_far.said.text.empty())
      if (auto whole = responses_reply(response)) so_far.said = std::move(*whole);
    take_end(so_far.said, response);
    so_far.ended = true;
  } else if (type == "response.failed" || type == "error") {
    const Json& response = type == "error" ? data : at(data, "response");
    auto failure = error_in(response, 200);
    so_far.failure =
        failure ? *failure : Failure{Failure::Kind::server, "the response failed: " + data.dump()};
  }
}

}  // namespace

const Wire kOpenAiResponses{"responses",       "/responses",    "Authorization: Bearer ", "",
                            responses_request, responses_reply, responses_event};

}  // namespace ksearch::llm
