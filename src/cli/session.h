// What commands that evaluate share: where things are, and a session opened as the options say.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/home.h"
#include "cli/options.h"
#include "evaluate/opened_session.h"
#include "store/run.h"
#include "target/metal/gpu_profile.h"
#include "target/metal/mlx_target.h"

namespace ksearch::cli {

/// The environment as it was at the start, and the data folders.
struct Context {
  os::Environment environment;
  Home home;
};

/// What programs for a target ("cpu", "metal") are written in.
kernel::Dialect dialect_for(std::string_view target);

/// Where programs of target metal run.
struct GpuPlace {
  target::GpuProfile gpu;               ///< the engine models it; or the chip that is here, as data
  std::optional<target::MlxState> mlx;  ///< set: MLX runs them on this machine's GPU
};
/// `device` as --device has it: a chip's name; kHereGpu; empty: here where MLX has a Metal device,
/// else kDefaultGpu. An unknown name says which are known.
base::Result<GpuPlace> gpu_place(const Context& context, const std::string& device);

/// References, naive program and experts are made and measured (or modelled): seconds to a minute.
base::Result<std::unique_ptr<evaluate::OpenedSession>> open_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress);

/// The options a run was started with.
EvaluateOptions options_of(const store::RunInfo& info);

}  // namespace ksearch::cli
