// A reply as Markdown: fenced blocks with their names, and the prose around them. Thinking is taken
// out. Internal to `llm`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksearch::llm {

struct Block {
  std::string label;       ///< first word of the info string, lower case: "cpp", "json5", or empty
  std::string path;        ///< that names it, or empty
  std::string other_path;  ///< a second one that contradicts it, or empty
  bool named_inside = false;  ///< by a comment in its first line
  std::string text;           ///< lines as they stand, each ended by a line feed
  std::size_t line = 0;       ///< of the opening fence in the reply, from 1
  bool closed = false;
  std::size_t opening_inside = 0;  ///< line of a fence that opens within it; 0: none
};

struct SplitReply {
  std::vector<Block> blocks;
  std::string prose;  ///< everything else; lines of blocks are blank, so that line numbers hold
  bool open_think = false;
  std::vector<std::string> notes;
};

SplitReply split_reply(std::string_view text);

/// "a/b.cpp": letters, digits and ._-/ with an extension; it may still be unsafe.
bool looks_like_path(std::string_view text);
/// Relative, without "..", "." or empty parts.
bool is_safe_path(std::string_view path);

}  // namespace ksearch::llm
