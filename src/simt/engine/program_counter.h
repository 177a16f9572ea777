// Where a signal met a thread; one file a system.
#pragma once

namespace ksearch::simt {

/// The address after the instruction that `context` (a handler's third argument) was at, or null.
const void* program_counter(const void* context);

}  // namespace ksearch::simt
