// What an instruction of a kernel is to a GPU: "float.add", "simd.shuffle", "matrix.half". Code of
// our own headers counts as the builtin it is: one exp is one operation, the posting and answering
// of a shuffle is one shuffle.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simt/ir/module.h"

namespace ksearch::simt::ir {

/// Where an instruction comes from.
struct Origin {
  std::string_view file;  ///< of the kernel author's innermost line; nothing: code of ours alone
  int line = 0;
  std::string_view inner;  ///< the file it stands in
  std::string_view entry;  ///< our function that the author's line calls, or nothing
  bool ours() const { return !entry.empty(); }
};
Origin origin(const Module& module, const Instruction& instruction);

struct Operation {
  std::string kind;
  int count = 1;
};
/// Nothing: no operation of a GPU's arithmetic, or one that costs it nothing (a sign, an address).
std::optional<Operation> operation(const Instruction& instruction, const Origin& origin);

/// "@name" or "%name" that a call calls.
std::string_view callee(const Instruction& instruction);
/// Of what it works on; for a store, of what is stored.
std::string_view type_text(const Instruction& instruction);
/// Of what a conversion gives.
std::string_view target_text(const Instruction& instruction);

}  // namespace ksearch::simt::ir
