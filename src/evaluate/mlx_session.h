// A session on the GPU of this Mac: programs of dialect mlx and MLX's own operations, both run and
// timed by MLX. It is the CPU's session (session.h) on another target; what a GPU does not show,
// races and accesses out of bounds, the engine looks for on tiny shapes.
#pragma once

#include "evaluate/engine_session.h"
#include "target/metal/mlx_target.h"

namespace ksearch::evaluate {

struct MlxSessionOptions {
  EngineSessionOptions engine;      ///< the task, and how tiny shapes are watched; `gpu`: this chip
  target::MlxState mlx;             ///< ask_mlx
  std::vector<std::string> worker;  ///< {ksearch_mlx_worker, "serve"}
  target::MlxPlace place = target::MlxPlace::gpu;  ///< cpu, in tests
  std::chrono::milliseconds timing{3000};          ///< as in SessionOptions
  double ratio_width = 0.02;
};

/// An expert that is an operation of MLX's. `expert` and `definition` outlive the worker.
base::Result<std::unique_ptr<target::Worker>> start_mlx_operation(
    target::MlxTarget& target, const task::Expert& expert, const kernel::Definition& definition);

base::Result<std::unique_ptr<OpenedSession>> open_mlx_session(const MlxSessionOptions& options,
                                                              const Progress& progress);

}  // namespace ksearch::evaluate
