#include "simt/ir/root.h"

#include "simt/ir/operation.h"

namespace ksearch::simt::ir {
namespace {

constexpr int kMostDefinitions = 64;  // followed from a pointer to what it points into

/// The address of a load, the base of an element's.
std::string_view pointer_of(const Instruction& instruction) {
  const std::vector<std::string_view>& all = instruction.words;
  for (std::size_t k = 0; k + 1 < all.size(); ++k)
    if (all[k] == "ptr" && all[k + 1] != "ptr") return all[k + 1];
  return {};
}

}  // namespace

Root root(std::string_view pointer, const Definitions& definitions) {
  for (int i = 0; i < kMostDefinitions; ++i) {
    if (pointer.empty() || pointer.front() != '%') return Root::ours;
    const auto found = definitions.find(pointer);
    if (found == definitions.end()) return Root::shared;
    const Instruction& made = *found->second;
    if (made.opcode == "alloca") return Root::own;
    // The address of a variable that each OS thread has.
    if (callee(made).starts_with("@llvm.threadlocal.address")) return Root::ours;
    if (made.opcode != "getelementptr" && made.opcode != "load") return Root::shared;
    const std::string_view from = pointer_of(made);
    // A pointer that a variable of ours holds: the lane, the engine.
    if (made.opcode == "load")
      return root(from, definitions) == Root::ours ? Root::ours : Root::shared;
    pointer = from;
  }
  return Root::shared;
}

}  // namespace ksearch::simt::ir
