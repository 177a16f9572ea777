// Where a pointer of a kernel's code leads, by the instructions it was made with.
#pragma once

#include <string_view>
#include <unordered_map>

#include "simt/ir/module.h"

namespace ksearch::simt::ir {

enum class Root {
  shared,  ///< memory that threads share
  own,     ///< an array of the thread
  ours,    ///< the engine's data
};

/// By the name of what an instruction makes.
using Definitions = std::unordered_map<std::string_view, const Instruction*>;

Root root(std::string_view pointer, const Definitions& definitions);

}  // namespace ksearch::simt::ir
