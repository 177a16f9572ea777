// The worker of the measured Metal target: programs and MLX's own operations, run through MLX in a
// process of their own. The protocol is the CPU worker's (cpu/worker_main.cpp).
#pragma once

namespace ksearch::target {

struct MlxDispatch;

/// Serves on the worker's descriptors until the parent hangs up; the process's exit code.
int run_mlx_worker(const MlxDispatch* dispatch = nullptr);

}  // namespace ksearch::target
