#include "evaluate/cpu_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "os/files.h"
#include "target/cpu/profile.h"
#include "target/script_worker.h"
#include "toolchain/builder.h"

namespace ksearch::evaluate {
namespace {

/// The CPUs that `threads` threads are pinned to: the last ones, away from interrupts and the
/// parent.
std::vector<int> cpus_for(int threads) {
  const std::vector<int> allowed = os::allowed_cpus();
  if (threads > static_cast<int>(allowed.size())) return {};
  return {allowed.end() - threads, allowed.end()};
}

StartScript script_starter(const CpuSessionOptions& options, int threads, std::vector<int> cpus,
                           std::uint64_t seed) {
  if (options.python.empty()) return nullptr;
  return [python = options.python, threads, cpus = std::move(cpus),
          seeds = std::make_shared<base::Random>(seed)](const task::Expert& expert) {
    target::ScriptOptions script{.python = python,
                                 .script = expert.path,
                                 .text = expert.script_text,
                                 .requires_modules = expert.requires_modules,
                                 .environment = expert.environment,
                                 .threads = threads,
                                 .cpus = cpus,
                                 .seed = seeds->next()};
    return target::start_script(script);
  };
}

TrustExpert library_finder(const CpuSessionOptions& options) {
  if (options.python.empty()) return nullptr;
  return [python = options.python](const task::Expert& expert) -> base::Result<target::Trust> {
    target::Trust trust;
    if (!expert.library_package.empty()) {
      KS_TRY(trust, target::python_library(python, expert.library_package));
    }
    for (const auto& [name, value] : expert.environment) trust.environment[name] = value;
    return trust;
  };
}

}  // namespace

base::Result<std::unique_ptr<CpuSession>> CpuSession::open(const CpuSessionOptions& options,
                                                           const Progress& progress) {
  auto session = std::unique_ptr<CpuSession>(new CpuSession);
  KS_TRY(session->task_, task::load_task(options.task));
  if (!options.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(session->task_, options.where));

  KS_TRY(const toolchain::Compiler compiler, toolchain::find_compiler(options.environment));
  KS_TRY(const os::Sandbox sandbox, os::Sandbox::find(options.sandbox));
  session->sandbox_ = sandbox.description();
  session->compiler_ = compiler.version;
  const std::filesystem::path cache =
      options.cache.empty() ? os::cache_folder(options.environment) : options.cache;
  KS_RETURN_IF_ERROR(os::make_cache(cache));
  const toolchain::Builder builder(compiler, sandbox, cache);

  const int every = static_cast<int>(os::allowed_cpus().size());
  const int threads = options.threads > 0 ? options.threads : every;
  const base::Random seeds = base::Random(options.seed).fork("session");
  target::ProfileOptions profile{.threads = threads,
                                 .cpus = cpus_for(threads),
                                 .worker = options.worker,
                                 .seed = seeds.fork("profile").next(),
                                 .doubt_cache = true};
  kernel::HardwareProfile device = target::describe_cpu(threads);
  if (options.measure) {
    progress("measuring the machine");
    KS_TRY(device, target::measure_cpu(builder, profile));
  }
  const auto target_on = [&](kernel::HardwareProfile d, int n, std::string_view name) {
    return std::make_unique<target::CpuTarget>(
        builder, target::CpuTargetOptions{.device = std::move(d),
                                          .cpus = cpus_for(n),
                                          .worker = options.worker,
                                          .memory_limit_bytes = options.memory_limit_bytes,
                                          .seed = seeds.fork(name).next(),
                                          .static_check = options.static_check});
  };
  session->target_ = target_on(device, threads, "target");
  // Truth may use the whole machine: nothing is timed while it is made.
  session->reference_target_ = target_on(target::describe_cpu(every), every, "reference");

  SessionOptions o;
  o.task = &session->task_;
  o.target = session->target_.get();
  o.reference_target = session->reference_target_.get();
  o.start_script =
      script_starter(options, threads, cpus_for(threads), seeds.fork("scripts").next());
  o.trust_expert = library_finder(options);
  if (options.measure)
    o.measure_ceilings = [builder, profile, device] {
      return target::measure_rates(builder, profile, device);
    };
  o.seed = options.seed;
  o.timing = options.timing;
  o.ratio_width = options.ratio_width;
  o.clock = options.clock;
  o.basis = {
      {"compiler", compiler.version}, {"sandbox", sandbox.description()}, {"threads", threads}};
  KS_TRY(session->session_, Session::open(o, progress));
  return session;
}

}  // namespace ksearch::evaluate
