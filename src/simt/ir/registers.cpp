#include "simt/ir/registers.h"

#include <algorithm>
#include <array>

#include "simt/ir/liveness.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

// What the hardware keeps for itself: masks of divergent branches, the position of the thread.
constexpr int kReserved = 6;

/// Arrays of the author's that are no registers. What is posted to other lanes is no such thing:
/// its address is stored.
int private_bytes(const Module& module, const Function& function) {
  std::unordered_map<std::string_view, std::string_view> arrays;
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions)
      if (instruction.opcode == "alloca") {
        const auto& all = instruction.words;
        if (!all.empty() && all[0].find("ks::") == std::string_view::npos)
          arrays[instruction.result] = all[0];
      }
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions) {
      if (instruction.opcode != "store") continue;
      const auto& all = instruction.words;
      if (all.size() > 1 && all[0] == "ptr") arrays.erase(all[1]);
    }
  int sum = 0;
  for (const auto& [array, type] : arrays) sum += bytes_of(module, type);
  return sum;
}

}  // namespace

RegisterUse register_use(const Module& module, const Function& function) {
  const Liveness liveness(module, function);
  RegisterUse use{liveness.most_alive() + kReserved, private_bytes(module, function), {}};
  if (use.half_registers > kMostHalfRegisters)
    use.spills = spills(module, function, liveness, kMostHalfRegisters - kReserved);
  return use;
}

int thread_limit(int half_registers) {
  // Mesa's table for these GPUs; 104 x 2 bytes x 1024 threads is the register file.
  constexpr std::array<std::pair<int, int>, 10> kLimits = {{{104, 1024},
                                                            {112, 896},
                                                            {128, 832},
                                                            {136, 768},
                                                            {144, 704},
                                                            {160, 640},
                                                            {184, 576},
                                                            {208, 512},
                                                            {232, 448},
                                                            {256, 384}}};
  for (const auto& [registers, threads] : kLimits)
    if (half_registers <= registers) return threads;
  return kLimits.back().second;
}

}  // namespace ksearch::simt::ir
