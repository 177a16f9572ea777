// OpenAI Chat Completions, the format that most servers speak (llama-server, vLLM, Ollama, LM
// Studio, Gemini's own second door).
#include "llm/wire.h"

namespace ksearch::llm {
namespace {

using base::Json;

Json chat_request(const Ask& ask, const Quirks& quirks) {
  Json messages = Json::array();
  for (const Turn& turn : ask.turns)
    messages.push_back(
        {{"role", turn.by == Turn::By::user ? "user" : "assistant"}, {"content", turn.text}});
  Json json{{"model", ask.model}, {"messages", std::move(messages)}};
  if (ask.max_output > 0)
    json[quirks.max_tokens.empty() ? "max_tokens" : quirks.max_tokens] = ask.max_output;
  if (ask.json && quirks.json) json["response_format"] = {{"type", "json_object"}};
  if (ask.stream) {
    json["stream"] = true;
    if (quirks.stream_usage) json["stream_options"] = {{"include_usage", true}};
  }
  return json;
}

std::optional<Tokens> chat_tokens(const Json& json) {
  const Json& usage = at(json, "usage");
  if (!usage.is_object()) return std::nullopt;
  Tokens tokens;
  tokens.in = count_at(usage, "prompt_tokens");
  tokens.out = count_at(usage, "completion_tokens");
  tokens.cached = count_at(at(usage, "prompt_tokens_details"), "cached_tokens");
  return tokens;
}

void take_finish(Said& said, const std::string& reason) {
  if (reason == "length") {
    said.stop = Said::Stop::max_tokens;
  } else if (reason == "content_filter") {
    said.stop = Said::Stop::declined;
  } else if (!reason.empty() && said.stop == Said::Stop::unknown) {
    said.stop = Said::Stop::stop;
  }
}

/// Text is a string, or a list of parts of which some are text.
std::string content_text(const Json& message) {
  const Json& content = at(message, "content");
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array())
    for (const Json& part : content) text += text_at(part, "text");
  return text;
}

void take_message(Said& said, const Json& message) {
  said.text += content_text(message);
  const std::string refusal = text_at(message, "refusal");
  if (refusal.empty()) return;
  said.text += refusal;
  said.stop = Said::Stop::declined;
}

Got<Said> chat_reply(const Json& json) {
  const Json& choices = at(json, "choices");
  if (!choices.is_array() || choices.empty() || !choices.front().is_object())
    return std::unexpected(Failure{Failure::Kind::malformed, "the reply has no choices"});
  Said said;
  take_message(said, at(choices.front(), "message"));
  take_finish(said, text_at(choices.front(), "finish_reason"));
  said.tokens = chat_tokens(json);
  return said;
}

void chat_event(Streamed& so_far, const Json& data) {
  if (const auto tokens = chat_tokens(data)) so_far.said.tokens = tokens;
  const Json& choices = at(data, "choices");
  if (!choices.is_array() || choices.empty() || !choices.front().is_object()) return;
  take_message(so_far.said, at(choices.front(), "delta"));
  take_finish(so_far.said, text_at(choices.front(), "finish_reason"));
  // Some servers close the connection without [DONE].
  if (!text_at(choices.front(), "finish_reason").empty()) so_far.ended = true;
}

}  // namespace

const Wire kOpenAiChat{"chat",     "/chat/completions", "Authorization: Bearer ", "", chat_request,
                       chat_reply, chat_event};

}  // namespace ksearch::llm
