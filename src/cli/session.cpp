#include "cli/session.h"

namespace ksearch::cli {

base::Result<std::unique_ptr<evaluate::CpuSession>> open_session(
    const Context& context, const std::filesystem::path& task_folder,
    const EvaluateOptions& options, const evaluate::Progress& progress) {
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
