// What commands that evaluate share: where things are, and a session opened as the options say.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/home.h"
#include "cli/options.h"
#include "evaluate/cpu_session.h"
#include "store/run.h"

namespace ksearch::cli {

/// The environment as it was at the start, and the data folders.
struct Context {
  os::Environment environment;
  Home home;
};

/// References, naive program and experts are made and measured: seconds to a minute.
base::Result<std::unique_ptr<evaluate::CpuSession>> open_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress);

/// The options a run was started with.
EvaluateOptions options_of(const store::RunInfo& info);

}  // namespace ksearch::cli
