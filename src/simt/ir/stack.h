// How much stack a kernel's variables take where each has a place of its own.
#pragma once

#include <string_view>

namespace ksearch::simt::ir {

/// Bytes of all variables in memory of all functions of a module, as clang prints it.
std::size_t stack_bytes(std::string_view text);

}  // namespace ksearch::simt::ir
