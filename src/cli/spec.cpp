// ksearch spec: the specification as every prompt of a search begins with it.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engineer_choice.h"
#include "cli/session.h"
#include "os/process.h"
#include "os/sandbox.h"
#include "target/cpu/profile.h"
#include "toolchain/builder.h"
#include "toolchain/compiler.h"

namespace ksearch::cli {
namespace {

base::Result<kernel::HardwareProfile> this_machine(const Context& context, int threads) {
  KS_TRY(const toolchain::Compiler compiler, toolchain::find_compiler(context.environment));
  KS_TRY(const os::Sandbox sandbox, os::Sandbox::find({}));
  const toolchain::Builder builder(compiler, sandbox, os::cache_folder(context.environment));
  target::ProfileOptions profile;
  profile.threads = threads > 0 ? threads : static_cast<int>(os::allowed_cpus().size());
  profile.worker = {os::executable_path().string(), "worker", "cpu"};
  return target::measure_cpu(builder, profile);
}

}  // namespace

base::Result<int> spec(const Context& context, const SpecOptions& options) {
  KS_TRY(task::Task task, open_task(context.home, options.task, options.target));
  if (!options.where.empty()) KS_RETURN_IF_ERROR(task::keep_where(task, options.where));
  KS_TRY(const EngineerChoice choice, parse_engineer(options.engineer));
  KS_TRY(const engineer::Catalog catalog,
         engineer::load_catalog(context.home.catalog_folder(task, dialect_for(options.target)),
                                task.definition));
  kernel::HardwareProfile device;
  if (options.target == "metal") {
    KS_TRY(const GpuPlace place, gpu_place(context, options.device));
    device = target::as_hardware(place.gpu);
  } else {
    KS_TRY(device, this_machine(context, options.threads));
  }
  KS_TRY(const engineer::Prompts prompts,
         load_prompts(context.home, task, device, choice, catalog, dialect_for(options.target)));
  fmt::print("{}", prompts.spec());
  for (const std::string& note : prompts.notes()) fmt::print(stderr, "ksearch: {}\n", note);
  return kDone;
}

}  // namespace ksearch::cli
