// A signal for each so much CPU time that a thread uses; one file a system.
#pragma once

#include <chrono>

namespace ksearch::simt {

/// For the calling thread, from now to its end. On macOS the process's time is taken.
/// `each` under a second.
void start_cpu_tick(int signal, std::chrono::milliseconds each);

}  // namespace ksearch::simt
