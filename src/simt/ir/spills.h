// What does not fit a thread's registers: which values a kernel's blocks have to store to memory
// and load again, as a compiler would that always gives up what is used last. An estimate from the
// optimised code in its own order.
#pragma once

#include "simt/ir/liveness.h"

namespace ksearch::simt::ir {

/// Of one run of a block, in registers of 16 bits of a thread.
struct BlockSpills {
  int loads = 0, stores = 0;
  bool any() const { return loads + stores > 0; }
};

/// By block; nothing anywhere where `registers` are enough.
std::vector<BlockSpills> spills(const Module& module, const Function& function,
                                const Liveness& liveness, int registers);

}  // namespace ksearch::simt::ir
