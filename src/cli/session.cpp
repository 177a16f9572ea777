#include "cli/session.h"

#include "evaluate/cpu_session.h"
#include "evaluate/engine_session.h"

namespace ksearch::cli {
namespace {

base::Result<std::unique_ptr<evaluate::OpenedSession>> open_gpu_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress) {
  evaluate::EngineSessionOptions session;
  session.task = task_folder;
  session.where = options.where;
  session.seed = options.seed;
  KS_TRY(session.gpu, gpu_profile(context, options.device));
  session.jobs = static_cast<std::size_t>(options.threads);
  session.engine_worker = {os::executable_path().string(), "worker", "simt"};
  session.cpu_worker = {os::executable_path().string(), "worker", "cpu"};
  session.environment = context.environment;
  session.sandbox.allow_none = options.no_sandbox;
  return evaluate::open_engine_session(session, progress);
}

}  // namespace

kernel::Dialect dialect_for(std::string_view target) {
  return target == "metal" ? kernel::Dialect::mlx : kernel::Dialect::cpp;
}

base::Result<target::GpuProfile> gpu_profile(const Context& context, const std::string& device) {
  return target::load_gpu_profile(context.home.hardware_folder(),
                                  device.empty() ? kDefaultGpu : device);
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
  if (info.target == "metal") options.device = info.device.value("name", "");
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
