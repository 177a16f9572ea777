// Where a signal met a thread; one file a system.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace ksearch::simt {

/// What a handler's third argument says of the thread; null where it is not known.
struct CodePosition {
  const void* pc = nullptr;          ///< after the instruction it was at
  const void* link = nullptr;        ///< arm64: the return address, if that is not on the stack
  const std::byte* stack = nullptr;  ///< the top of its stack
};
CodePosition code_position(const void* context);

/// What a SIGSYS of the system call lock was about; `pc` as in CodePosition.
struct RefusedCall {
  long number = 0;
  std::uint64_t first_argument = 0;
  const void* pc = nullptr;
};
RefusedCall refused_call(const siginfo_t* info, const void* context);

}  // namespace ksearch::simt
