// A session on a GPU that is not here: programs run in the SIMT engine, so right and wrong are
// real; times come from the GPU's model and are Modelled, never Measured.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/opened_session.h"
#include "os/files.h"
#include "os/sandbox.h"
#include "target/metal/gpu_profile.h"

namespace ksearch::evaluate {

struct EngineSessionOptions {
  std::filesystem::path task;  ///< its folder (task::find_task)
  std::string where;           ///< keeps workloads; empty: all
  std::uint64_t seed = 1;
  target::GpuProfile gpu;
  std::size_t jobs = 0;  ///< workloads that run at the same time; 0: one for each CPU allowed
  std::vector<std::string> engine_worker;  ///< command of the engine's process
  std::vector<std::string> cpu_worker;     ///< of the reference's
  std::filesystem::path cache;             ///< built kernels; empty: os::cache_folder
  os::Environment environment;             ///< for finding compilers and cache
  os::SandboxOptions sandbox;
};

/// Evaluating, in this order: the dialect, tiny shapes watched, the modelled time of every choice
/// of tunables, the outputs of the chosen ones (of a smaller shape where the workload names one).
/// Certifying: fresh seeds, tiny shapes under three schedules, held-out and feedback shapes whole.
base::Result<std::unique_ptr<OpenedSession>> open_engine_session(
    const EngineSessionOptions& options, const Progress& progress);

}  // namespace ksearch::evaluate
