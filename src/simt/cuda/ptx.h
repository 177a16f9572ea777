// PTX of inline assembly: its instructions, and each as a call of a function of ours (namespace
// ks::ptx in simt/device). Operand i of the statement is the variable ks_a<i>.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ksearch::simt::cuda {

struct PtxOperand {
  enum class Kind { variable, number, address, list, sink };
  Kind kind = Kind::variable;
  std::string text;    ///< C++: a variable, a literal; of an address: its register
  std::string offset;  ///< of an address: bytes, C++
  std::vector<PtxOperand> parts;
};

struct PtxInstruction {
  std::vector<std::string> name;  ///< mma, sync, aligned, m16n8k16, ...
  std::string guard;              ///< C++ condition, or empty
  std::vector<PtxOperand> operands;

  bool has(std::string_view piece) const;
  std::string whole_name() const;
};

/// A register that the text declares, as C++: its type and name.
struct PtxRegister {
  std::string type, name;
};

/// What stands between two braces or at the outermost level.
struct PtxBlock {
  std::vector<PtxRegister> registers;
  std::vector<PtxInstruction> instructions;
};

/// `text`: the template with its escapes resolved; `names` of operands, for %[name]. An error says
/// what is not understood; the caller knows the line.
base::Result<PtxBlock> parse_ptx(std::string_view text, const std::vector<std::string>& names);

/// The C++ variable of a register, an expression where PTX itself has it (%laneid).
std::string ptx_variable(std::string_view name);
std::string ptx_register(const std::string& name);

/// One C++ statement.
base::Result<std::string> emit_ptx(const PtxInstruction& instruction);

// Parts of emit_ptx: an empty result where the instruction is none of theirs.
base::Result<std::string> emit_ptx_memory(const PtxInstruction& instruction);
base::Result<std::string> emit_ptx_lanes(const PtxInstruction& instruction);

/// The type among the pieces of a name ("f32", "b16", ...), the n-th; empty where there are fewer.
std::string ptx_type(const PtxInstruction& instruction, std::size_t n = 0);
base::Error ptx_fault(const PtxInstruction& instruction, std::string what);
std::string ptx_as(const std::string& type, const PtxOperand& operand);
std::string ptx_set(const PtxOperand& to, const std::string& value);
std::string ptx_refs(const PtxOperand& operand);

}  // namespace ksearch::simt::cuda
