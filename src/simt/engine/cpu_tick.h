// A signal for each so many seconds of CPU time that a thread uses; one file a system.
#pragma once

namespace ksearch::simt {

/// For the calling thread, from now to its end. On macOS the process's time is taken.
void start_cpu_tick(int signal, int seconds);

}  // namespace ksearch::simt
