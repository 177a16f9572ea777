// Stacks that take turns on one OS thread. The switch itself is one small file for each processor.
#pragma once

#include <cstddef>

namespace ksearch::simt {

/// Saves the callee's registers on the running stack, its top in `*from`, and goes on at `to`.
/// In assembly: fiber_x86_64.cpp, fiber_aarch64.cpp.
extern "C" void ksearch_switch_fiber(void** from, void* to) noexcept;

/// The top to switch to so that `entry` starts on the stack that ends at `end`. It must not return.
void* prepare_fiber(std::byte* end, void (*entry)()) noexcept;

}  // namespace ksearch::simt
