// What a block's run costs one SIMD-group that is alone on its scheduler: the longest chain of
// operations that wait for each other, and how often it waits for memory. In latencies of Apple
// GPUs; how many SIMD-groups hide them is the time model's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "simt/ir/module.h"

namespace ksearch::simt::ir {

/// What the chain needs of one instruction of a block.
struct ChainStep {
  const Instruction* instruction = nullptr;
  std::string_view kind;   ///< its operation; nothing: it costs nothing
  std::int64_t site = -1;  ///< of a load from memory that threads share
};

struct BlockChain {
  double cycles = 0;  ///< of the longest chain, or of issuing everything where that takes longer
  /// Operations that no independent one stands beside: a scheduler issues those more slowly.
  double alone = 0, alone_half = 0;
  /// Loads that are waited for together, by site: those of the second entry need one of the first.
  std::vector<std::vector<std::uint32_t>> waits;
};

/// In the order of the block. Values from other blocks are taken as ready.
BlockChain chain_of(std::span<const ChainStep> steps);

}  // namespace ksearch::simt::ir
