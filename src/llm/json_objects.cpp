#include "llm/json_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/relaxed_json.h"

namespace ksearch::llm {
namespace {

constexpr const char* kWhite = " \t\r\n";
/// Fenced blocks, and objects in prose. Each is read on its own.
constexpr std::size_t kMostParts = 100;

bool begins_object(std::string_view text) {
  const auto first = text.find_first_not_of(kWhite);
  return first != std::string_view::npos && text[first] == '{';
}

/// Lines before it are blank, so that the parser's line is the reply's.
JsonObject parse_at(std::string_view text, std::size_t line, bool complete) {
  JsonObject object;
  object.line = line;
  object.complete = complete;
  auto parsed = parse_relaxed_json(std::string(line - 1, '\n') + std::string(text), "the reply");
  if (parsed) {
    object.value = std::move(parsed->value);
    object.notes = std::move(parsed->notes);
  } else {
    object.error = parsed.error().text();
  }
  return object;
}

/// Past the brace that closes the object at `begin`; npos where there is none.
std::size_t object_end(std::string_view text, std::size_t begin) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote || c == '\n')
        quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// Objects that begin a line of the prose.
std::vector<JsonObject> objects_in_prose(std::string_view prose) {
  std::vector<JsonObject> objects;
  std::size_t line = 1;
  for (std::size_t at = 0; at < prose.size() && objects.size() < kMostParts;) {
    const std::size_t line_end = std::min(prose.find('\n', at), prose.size());
    const std::size_t first = prose.find_first_not_of(" \t", at);
    if (first >= line_end || prose[first] != '{') {
      at = line_end + 1;
      ++line;
      continue;
    }
    const std::size_t end = object_end(prose, first);
    const bool complete = end != std::string_view::npos;
    const std::string_view text = prose.substr(first, complete ? end - first : end);
    objects.push_back(parse_at(text, line, complete));
    line += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    at = complete ? end : prose.size();
    // What follows the brace on its line is no new line.
    while (complete && at < prose.size() && prose[at] != '\n') ++at;
    if (at < prose.size()) {
      ++at;
      ++line;
    }
  }
  return objects;
}

std::vector<JsonObject> objects_of(const SplitReply& split) {
  std::vector<JsonObject> objects;
  for (const Block& block : split.blocks)
    if (is_json_block(block)) objects.push_back(read_object(block));
  return objects.empty() ? objects_in_prose(split.prose) : objects;
}

std::string keys_of(const base::Json& json) {
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += (keys.empty() ? "" : ", ") + key;
  return keys.empty() ? "no keys" : keys.substr(0, 200);
}

std::string cut_off(const RawReply& reply, std::size_t line) {
  return fmt::format(
      "the reply was truncated: it ends inside the JSON that begins at line {}{}. Send the whole "
      "object again, shorter.",
      line, reply.stop == RawReply::Stop::max_tokens ? " (the token limit was reached)" : "");
}

/// Why no object fits.
BadReply none_fits(const RawReply& reply, const std::vector<JsonObject>& objects,
                   const std::string& key) {
  for (const JsonObject& object : objects)
    if (!object.complete && reply.stop != RawReply::Stop::stop)
      return {Fault::truncated, cut_off(reply, object.line), {}};
  if (objects.empty()) {
    if (reply.stop == RawReply::Stop::max_tokens)
      return {Fault::truncated,
              fmt::format("the token limit was reached before the JSON object with \"{}\" began. "
                          "Answer with that object alone, shorter.",
                          key),
              {}};
    return {Fault::missing_json,
            fmt::format("there is no JSON object in the reply. Answer with one object that has "
                        "\"{}\", in a block fenced as json.",
                        key),
            {}};
  }
  for (auto it = objects.rbegin(); it != objects.rend(); ++it)
    if (!it->value)
      return {Fault::malformed_json,
              fmt::format("the JSON that begins at line {} cannot be read: {}. Send the whole "
                          "object again, as strict JSON.",
                          it->line, it->error),
              {}};
  return {Fault::wrong_shape,
          fmt::format("the JSON object at line {} has {}, but \"{}\" is wanted. Send one object "
                      "with it.",
                      objects.back().line, keys_of(*objects.back().value), key),
          {}};
}

}  // namespace

std::unexpected<BadReply> bad(Fault fault, std::string message) {
  return std::unexpected(BadReply{fault, std::move(message), {}});
}

std::optional<BadReply> unusable(const RawReply& reply, const SplitReply& split) {
  if (split.blocks.size() > kMostParts)
    return BadReply{Fault::ambiguous,
                    fmt::format("the reply has {} fenced blocks, at most {} are read. Send one for "
                                "each file and one for the JSON.",
                                split.blocks.size(), kMostParts),
                    {}};
  if (split.open_think)
    return BadReply{Fault::truncated,
                    "the reply was truncated: it ends within its thinking, before the answer. "
                    "Think shorter, and close the think block before you answer.",
                    {}};
  const bool text = split.prose.find_first_not_of(kWhite) != std::string::npos;
  if (text || !split.blocks.empty()) return std::nullopt;
  return BadReply{Fault::empty_reply,
                  reply.stop == RawReply::Stop::max_tokens
                      ? "the reply is empty: the token limit was reached before it began (hidden "
                        "reasoning counts). Answer at once, or raise the limit."
                      : "the reply is empty. Answer in the form that was asked for.",
                  {}};
}

bool is_json_block(const Block& block) {
  const bool label = block.label == "json" || block.label == "json5" || block.label == "jsonc";
  if (!block.path.empty() && !block.named_inside)
    return block.path == "plan.json" || block.path == "program.json" ||
           block.path == "launch_plan.json" || block.path == "edits.json" ||
           block.path == "world_model.json";
  return label || (block.label.empty() && begins_object(block.text));
}

JsonObject read_object(const Block& block) {
  return parse_at(block.text, block.line + 1, block.closed);
}

Read<Wanted> find_object(const RawReply& reply, const SplitReply& split, const std::string& key) {
  const std::vector<JsonObject> objects = objects_of(split);
  std::vector<const JsonObject*> fitting;
  Wanted wanted;
  for (const JsonObject& object : objects) {
    const bool fits = object.value && object.value->is_object() && object.value->contains(key);
    if (fits)
      fitting.push_back(&object);
    else
      wanted.notes.push_back(fmt::format("the {} at line {} was left aside",
                                         object.value ? "JSON" : "broken JSON", object.line));
  }
  if (fitting.empty()) return std::unexpected(none_fits(reply, objects, key));
  for (const JsonObject* other : fitting)
    if (*other->value != *fitting.front()->value)
      return bad(Fault::ambiguous,
                 fmt::format("there are two different objects with \"{}\", at lines {} and {}. "
                             "Send the one that counts, alone.",
                             key, fitting.front()->line, other->line));
  wanted.value = *fitting.front()->value;
  for (const std::string& note : fitting.front()->notes) wanted.notes.push_back(note);
  return wanted;
}

}  // namespace ksearch::llm
