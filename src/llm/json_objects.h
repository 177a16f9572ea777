// The JSON objects of a reply: fenced ones, else those that stand in the prose. Internal to `llm`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llm/blocks.h"
#include "llm/reply.h"

namespace ksearch::llm {

struct JsonObject {
  std::size_t line = 0;             ///< where it begins in the reply, from 1
  std::optional<base::Json> value;  ///< none: it is no JSON
  std::string error;                ///< then why, with the line of the reply
  std::vector<std::string> notes;   ///< what was forgiven
  bool complete = true;             ///< false: the reply ends within it
};

/// A block that holds an object, read.
JsonObject read_object(const Block& block);
/// Whether a block is there for its JSON: labelled so and not named as a file, or an unnamed
/// object.
bool is_json_block(const Block& block);

/// The one object with `key`; what is broken or of another shape is left aside if there is one.
struct Wanted {
  base::Json value;
  std::vector<std::string> notes;
};
Read<Wanted> find_object(const RawReply& reply, const SplitReply& split, const std::string& key);

/// BadReply for a reply without any text, or with more parts than any answer has.
std::optional<BadReply> unusable(const RawReply& reply, const SplitReply& split);
std::unexpected<BadReply> bad(Fault fault, std::string message);

}  // namespace ksearch::llm
