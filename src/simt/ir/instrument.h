// Makes a kernel tell what it does: each block counts how often it runs, each access to memory that
// threads share says where. What a block's run means in operations is known before it runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simt/ir/chain.h"
#include "simt/ir/module.h"
#include "simt/ir/spills.h"

namespace ksearch::simt::ir {

struct Place {
  std::string file;
  int line = 0;
  auto operator<=>(const Place&) const = default;
};

/// `count` operations of kind `kind` (an index) for the line `line` (an index).
struct BlockOperation {
  std::uint32_t kind = 0, line = 0, count = 0;
};

struct Site {
  std::uint32_t line = 0;
  bool store = false;
};

struct Instrumented {
  std::string text;
  std::vector<std::string> kinds;
  std::vector<Place> lines;
  std::vector<std::vector<BlockOperation>> blocks;  ///< by counter
  std::vector<BlockChain> chains;                   ///< by counter, as `blocks`
  std::vector<BlockSpills> spills;                  ///< by counter
  std::vector<Site> sites;
  int half_registers = 0;  ///< estimate: see registers.h
  int private_bytes = 0;   ///< arrays of a thread that are no registers
};

/// An internal error where the text has no such form.
base::Result<Instrumented> instrument(std::string_view text);

}  // namespace ksearch::simt::ir
