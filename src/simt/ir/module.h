// LLVM's intermediate language as clang prints it (-S -emit-llvm), read as far as a trace needs it:
// functions, blocks, instructions, and which line of which function each comes from. Views into the
// text, which has to outlive it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ksearch::simt::ir {

struct Instruction {
  std::string_view text;    ///< without indentation; a switch with its lines
  std::string_view result;  ///< "%12", or nothing
  std::string_view opcode;
  std::vector<std::string_view> words;  ///< after the opcode, up to the metadata
  /// Number of its !dbg. Code that was moved has lost it: that of the first place that uses it.
  int location = -1;
};

struct Block {
  std::string_view label;  ///< nothing for the first one of a function
  std::size_t start = 0;   ///< in the text: its first instruction's line
  std::size_t body = 0;    ///< after its phis
  std::vector<Instruction> instructions;
};

struct Function {
  std::string_view name;    ///< with its @
  std::string_view header;  ///< the line with `define`
  int subprogram = -1;      ///< number of its !dbg
  std::vector<Block> blocks;
};

/// A call that code was inlined from, or the function itself: innermost first.
struct Frame {
  std::string_view file;  ///< last part of the path
  std::string_view function;
  int line = 0;
};

class Module {
 public:
  /// Unknown lines are passed over: what a newer clang prints is no error.
  explicit Module(std::string_view text);

  std::string_view text() const { return text_; }
  const std::vector<Function>& functions() const { return functions_; }
  /// The frames of a location; kept, so that the reference stays.
  const std::vector<Frame>& frames(int location) const;
  /// The function that a scope, or a function's subprogram, is of.
  Frame frame(int scope) const;
  /// What "%name = type ..." says, or nothing.
  std::string_view named_type(std::string_view name) const;
  /// A number no metadata has.
  int free_number() const { return free_number_; }

 private:
  void read_metadata(std::string_view line);
  static void find_locations(Function& function);

  std::string_view text_;
  std::vector<Function> functions_;
  std::unordered_map<int, std::string_view> metadata_;
  std::unordered_map<std::string_view, std::string_view> types_;
  mutable std::unordered_map<int, std::vector<Frame>> frames_;
  int free_number_ = 0;
};

/// The words of an instruction: names, types and punctuation apart, strings and <...>, [...], {...}
/// types whole.
std::vector<std::string_view> words(std::string_view text);

}  // namespace ksearch::simt::ir
