#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "evaluate/cpu_session.h"
#include "evaluate/engine_session.h"
#include "evaluate/mlx_session.h"

namespace ksearch::cli {
namespace {

base::Result<std::unique_ptr<evaluate::OpenedSession>> open_gpu_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress) {
  KS_TRY(GpuPlace place, gpu_place(context, options.device));
  evaluate::EngineSessionOptions session;
  session.task = task_folder;
  session.where = options.where;
  session.seed = options.seed;
  session.gpu = std::move(place.gpu);
  session.jobs = static_cast<std::size_t>(options.threads);
  session.engine_worker = {os::executable_path().string(), "worker", "simt"};
  session.cpu_worker = {os::executable_path().string(), "worker", "cpu"};
  session.environment = context.environment;
  session.sandbox.allow_none = options.no_sandbox;
  if (!place.mlx) return evaluate::open_engine_session(session, progress);
  evaluate::MlxSessionOptions measured;
  measured.engine = std::move(session);
  measured.mlx = std::move(*place.mlx);
  measured.worker = {target::mlx_worker().string(), "serve"};
  return evaluate::open_mlx_session(measured, progress);
}

/// "Apple M1 Max" is apple-m1-max.
std::string profile_name(std::string_view chip) {
  std::string name;
  for (const char c : chip)
    name += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

base::Error no_metal(const target::MlxState& mlx) {
  const auto worker = target::mlx_worker();
  std::error_code code;
  const bool there = std::filesystem::exists(worker, code);
  return {base::ErrorKind::environment, fmt::format("--device {}", kHereGpu),
          mlx.built_in ? fmt::format("no Metal device (MLX {} sees none)", mlx.version)
          : there      ? "built without MLX"
                       : worker.string() + " is not there",
          mlx.built_in
              ? "MLX runs kernels on a Mac's GPU; without --device the engine runs them, and times "
                "are modelled"
              : "docs/mac.md says how to build with MLX; without --device the engine runs kernels, "
                "and times are modelled"};
}

}  // namespace

kernel::Dialect dialect_for(std::string_view target) {
  return target == "metal" ? kernel::Dialect::mlx : kernel::Dialect::cpp;
}

base::Result<GpuPlace> gpu_place(const Context& context, const std::string& device) {
  const std::filesystem::path folder = context.home.hardware_folder();
  GpuPlace place;
  if (device.empty() || device == kHereGpu) {
    target::MlxState mlx = target::ask_mlx(target::mlx_worker());
    if (mlx.has_metal)
      place.mlx = std::move(mlx);
    else if (device == kHereGpu)
      return std::unexpected(no_metal(mlx));
  }
  std::string chip = !device.empty() && device != kHereGpu ? device : kDefaultGpu;
  if (place.mlx) {
    const auto known = target::list_gpu_profiles(folder);
    const std::string name = profile_name(place.mlx->device);
    // Of a chip without a file the limits that all of them have are right; its cores are a guess.
    if (std::ranges::find(known, name) != known.end()) chip = name;
  }
  KS_TRY(place.gpu, target::load_gpu_profile(folder, chip));
  return place;
}

base::Result<std::unique_ptr<evaluate::OpenedSession>> open_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress) {
  if (options.target == "metal") return open_gpu_session(context, task_folder, options, progress);
  if (!options.device.empty())
    return base::usage_error("--device", "names a GPU; the target is this CPU", "--target metal");
  evaluate::CpuSessionOptions session;
  session.task = task_folder;
  session.where = options.where;
  session.threads = options.threads;
  session.seed = options.seed;
  KS_TRY(session.python, context.home.python(options.python));
  session.worker = {os::executable_path().string(), "worker", "cpu"};
  session.environment = context.environment;
  session.sandbox.allow_none = options.no_sandbox;
  return evaluate::CpuSession::open(session, progress);
}

EvaluateOptions options_of(const store::RunInfo& info) {
  EvaluateOptions options;
  options.task = info.task_folder;
  options.target = info.target;
  if (info.target == "metal")
    options.device = info.options.value("device", info.device.value("name", ""));
  options.threads = info.threads;
  options.where = info.where;
  options.python = info.python;
  if (const auto seed = info.search.find("seed");
      seed != info.search.end() && seed->is_number_integer())
    options.seed = seed->get<std::uint64_t>();
  const auto unsafe = info.options.find("unsafe_no_sandbox");
  options.no_sandbox = unsafe != info.options.end() && unsafe->is_boolean() && unsafe->get<bool>();
  return options;
}

}  // namespace ksearch::cli
