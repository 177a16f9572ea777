// Anthropic Messages.
#include <algorithm>

#include "llm/wire.h"

namespace ksearch::llm {
namespace {

using base::Json;

/// The format has no server's own limit; every model that is sold takes this.
constexpr int kOutputAlwaysTaken = 8192;

/// A first turn in two blocks, the shared one marked to be cached.
Json content_of(const Ask& ask, const Turn& turn, const Quirks& quirks) {
  const bool first = &turn == ask.turns.data();
  const std::size_t shared = first ? std::min(ask.shared, turn.text.size()) : 0;
  if (shared == 0 || !quirks.cache_marks) return turn.text;
  Json blocks = Json::array();
  blocks.push_back({{"type", "text"},
                    {"text", turn.text.substr(0, shared)},
                    {"cache_control", {{"type", "ephemeral"}}}});
  // Blocks of white space alone are refused.
  if (turn.text.find_first_not_of(" \t\r\n", shared) != std::string::npos)
    blocks.push_back({{"type", "text"}, {"text", turn.text.substr(shared)}});
  return blocks;
}

Json messages_request(const Ask& ask, const Quirks& quirks) {
  Json messages = Json::array();
  for (const Turn& turn : ask.turns)
    messages.push_back({{"role", turn.by == Turn::By::user ? "user" : "assistant"},
                        {"content", content_of(ask, turn, quirks)}});
  Json json{{"model", ask.model},
            {"max_tokens", ask.max_output > 0 ? ask.max_output : kOutputAlwaysTaken},
            {"messages", std::move(messages)}};
  if (ask.stream) json["stream"] = true;
  return json;
}

/// Counts that are there replace those of an earlier event.
void take_tokens(std::optional<Tokens>& tokens, const Json& usage) {
  if (!usage.is_object()) return;
  if (!tokens) tokens.emplace();
  if (usage.contains("input_tokens")) {
    tokens->cached = count_at(usage, "cache_read_input_tokens");
    tokens->cache_written = count_at(usage, "cache_creation_input_tokens");
    // What was read from the cache or written to it is not part of `input_tokens` here.
    tokens->in = count_at(usage, "input_tokens") + tokens->cached + tokens->cache_written;
  }
  if (usage.contains("output_tokens")) tokens->out = count_at(usage, "output_tokens");
}

void take_stop(Said& said, const std::string& reason) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded")
    said.stop = Said::Stop::max_tokens;
  else if (reason == "refusal")
    said.stop = Said::Stop::declined;
  else if (!reason.empty())
    said.stop = Said::Stop::stop;
}

Got<Said> messages_reply(const Json& json) {
  const Json& content = at(json, "content");
  if (!content.is_array())
    return std::unexpected(Failure{Failure::Kind::malformed, "the reply has no content"});
  Said said;
  for (const Json& block : content)  // thinking and tools are no answer
    if (text_at(block, "type") == "text") said.text += text_at(block, "text");
  take_stop(said, text_at(json, "stop_reason"));
  take_tokens(said.tokens, at(json, "usage"));
  return said;
}

void messages_event(Streamed& so_far, const Json& data) {
  const std::string type = text_at(data, "type");
  if (type == "message_start") {
    take_tokens(so_far.said.tokens, at(at(data, "message"), "usage"));
  } else if (type == "content_block_start") {
    so_far.said.text += text_at(at(data, "content_block"), "text");
  } else if (type == "content_block_delta") {
    const Json& delta = at(data, "delta");
    if (text_at(delta, "type") == "text_delta") so_far.said.text += text_at(delta, "text");
  } else if (type == "message_delta") {
    take_stop(so_far.said, text_at(at(data, "delta"), "stop_reason"));
    take_tokens(so_far.said.tokens, at(data, "usage"));
  } else if (type == "message_stop") {
    so_far.ended = true;
  }
}

}  // namespace

const Wire kAnthropicMessages{
    "messages",       "/messages",    "x-api-key: ", "anthropic-version: 2023-06-01",
    messages_request, messages_reply, messages_event};

}  // namespace ksearch::llm
