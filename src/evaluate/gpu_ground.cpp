#include "evaluate/gpu_ground.h"

#include "base/random.h"
#include "simt/object.h"
#include "target/cpu/profile.h"

namespace ksearch::evaluate {

base::Result<std::unique_ptr<GpuGround>> GpuGround::lay(const EngineSessionOptions& options,
                                                        task::Task& task) {
  KS_TRY(task, task::load_task(options.task, "metal"));
  if (!options.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, options.where));
  KS_TRY(toolchain::Compiler clang, simt::find_clang(options.environment));
  KS_TRY(const toolchain::Compiler compiler, toolchain::find_compiler(options.environment));
  KS_TRY(os::Sandbox sandbox, os::Sandbox::find(options.sandbox));
  std::unique_ptr<GpuGround> ground(new GpuGround(std::move(clang), std::move(sandbox)));
  ground->cache_ = options.cache.empty() ? os::cache_folder(options.environment) : options.cache;
  KS_RETURN_IF_ERROR(os::make_cache(ground->cache_));
  const int every = static_cast<int>(os::allowed_cpus().size());
  ground->jobs_ = options.jobs > 0 ? options.jobs : static_cast<std::size_t>(every);
  ground->engine_worker_ = options.engine_worker;
  const base::Random seeds = base::Random(options.seed).fork("session");
  ground->reference_ = std::make_unique<target::CpuTarget>(
      toolchain::Builder(compiler, ground->sandbox_, ground->cache_),
      target::CpuTargetOptions{.device = target::describe_cpu(every),
                               .cpus = os::allowed_cpus(),
                               .worker = options.cpu_worker,
                               .seed = seeds.fork("reference").next()});
  return ground;
}

EngineRunner GpuGround::runner(const target::GpuProfile& gpu) const {
  return EngineRunner(toolchain::Builder(clang_, sandbox_, cache_), engine_worker_, gpu, jobs_);
}

}  // namespace ksearch::evaluate
