// Which registers of 16 bits the values of a function take in a thread of a GPU. Such a GPU
// computes with scalars: a vector is its elements, and to take it apart or to put it together costs
// nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "simt/ir/module.h"

namespace ksearch::simt::ir {

/// Numbered through a function; each is written once.
using Half = std::uint32_t;
/// In place of one that all threads of a SIMD-group share: those have registers of their own.
inline constexpr Half kShared = std::numeric_limits<Half>::max();
using Halves = std::vector<Half>;

class RegisterMap {
 public:
  RegisterMap(const Module& module, const Function& function);

  std::size_t size() const { return count_; }
  /// Those that an instruction writes.
  const Halves& made_by(const Instruction& instruction) const;
  /// Those of a value by its name; nothing where it has none.
  const Halves& of(std::string_view name) const;
  /// Those that an instruction reads, but for a phi's: they are read where control comes from.
  template <class F>
  void each_read(const Instruction& instruction, F&& f) const {
    if (instruction.opcode == "phi" || is_rename(instruction)) return;
    for (const std::string_view word : instruction.words)
      if (word.front() == '%')
        for (const Half half : of(word))
          if (half != kShared) f(half);
  }

 private:
  struct Value {
    const Instruction* made = nullptr;  ///< null: an argument
    int width = 0;                      ///< in halves
    bool divergent = false;             ///< differs between the threads of a SIMD-group
    bool rename = false;                ///< made of halves that others made
    Halves halves;
  };

  void add_arguments(std::string_view header);
  void find_divergence();
  bool diverges(const Value& value) const;
  template <class F>
  void each_operand(const Instruction& instruction, F&& f) const;
  const Value* find(std::string_view name) const;
  bool is_rename(const Instruction& instruction) const;
  void add_halves(Value& value);
  std::optional<Halves> operand(std::string_view type, std::string_view value) const;
  std::optional<Halves> renamed(const Instruction& instruction);
  std::optional<Halves> address(const Instruction& instruction);
  std::optional<Halves> shuffled(const Instruction& instruction) const;

  const Module& module_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<Value> values_;
  std::unordered_map<std::string, Halves> addresses_;  ///< by what they add
  Half count_ = 0;
};

}  // namespace ksearch::simt::ir
