// The CPU worker's own main: `ksearch worker cpu`. Started by CpuTarget only; it expects its
// control socket and the shared memory as descriptors (worker_process.h).
#pragma once

namespace ksearch::target {

/// Serves until the parent hangs up. The process's exit status.
int run_cpu_worker();

}  // namespace ksearch::target
