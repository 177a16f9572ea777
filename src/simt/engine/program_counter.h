// Where a signal met a thread; one file a system.
#pragma once

#include <csignal>
#include <cstdint>

namespace ksearch::simt {

/// The address after the instruction that `context` (a handler's third argument) was at, or null.
const void* program_counter(const void* context);

/// What a SIGSYS of the system call lock was about; `pc` as above.
struct RefusedCall {
  long number = 0;
  std::uint64_t first_argument = 0;
  const void* pc = nullptr;
};
RefusedCall refused_call(const siginfo_t* info, const void* context);

}  // namespace ksearch::simt
