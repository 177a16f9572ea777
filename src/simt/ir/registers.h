// How many registers a thread of a function needs at most, and how many threads a group may have
// for that: an estimate from the optimised code before any instrumentation.
#pragma once

#include "simt/ir/spills.h"

namespace ksearch::simt::ir {

/// What a thread of Apple's GPUs can have (metal-benchmarks, philipturner: 128 of 32 bits).
inline constexpr int kMostHalfRegisters = 256;

struct RegisterUse {
  int half_registers = 0;           ///< of 16 bits, alive at once at the worst place
  int private_bytes = 0;            ///< of arrays that stayed in memory
  std::vector<BlockSpills> spills;  ///< by block; empty where kMostHalfRegisters are enough
};
RegisterUse register_use(const Module& module, const Function& function);

/// The threads that a group may have on GPUs of families Apple7 and Apple8.
int thread_limit(int half_registers);

}  // namespace ksearch::simt::ir
