// ksearch devices: this machine, as programs see it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "report/columns.h"
#include "target/cpu/cpu_info.h"
#include "target/cpu/profile.h"
#include "target/script_worker.h"

namespace ksearch::cli {
namespace {

std::string rate_text(double flops) { return fmt::format("{:.0f} GFLOP/s", flops / 1e9); }

void print_profile(const kernel::HardwareProfile& device) {
  const auto line = [](const char* label, const std::string& text) {
    fmt::print("  {:<12}{}\n", label, text);
  };
  fmt::print("{}\n", device.name);
  line("threads", std::to_string(device.cores));
  line("vectors", fmt::format("{} floats; {}", device.simd_width, fmt::join(device.features, " ")));
  line("caches", fmt::format("{} first level, {} second level, a core",
                             report::bytes_text(static_cast<double>(device.l1_bytes)),
                             report::bytes_text(static_cast<double>(device.l2_bytes))));
  if (device.float32_flops > 0)
    line("float32", rate_text(device.float32_flops) + " sustained (fused multiply-add)");
  if (device.bfloat16_flops > 0)
    line("bfloat16", rate_text(device.bfloat16_flops) + " sustained (matrix unit)");
  for (const kernel::BandwidthPoint& point : device.bandwidth)
    line("bandwidth", fmt::format("{:.1f} GB/s over {}", point.bytes_per_second / 1e9,
                                  report::bytes_text(point.working_set_bytes)));
  if (device.timer_overhead_ns > 0)
    line("clock", fmt::format("{:.0f} ns a reading", device.timer_overhead_ns));
  if (!device.measured_at.empty()) line("measured", device.measured_at);
}

}  // namespace

base::Result<int> devices(const Context& context, const DevicesOptions& options) {
  KS_TRY(const toolchain::Compiler compiler, toolchain::find_compiler(context.environment));
  KS_TRY(const os::Sandbox sandbox, os::Sandbox::find({}));
  const toolchain::Builder builder(compiler, sandbox, os::cache_folder(context.environment));
  target::ProfileOptions profile;
  profile.threads =
      options.threads > 0 ? options.threads : static_cast<int>(os::allowed_cpus().size());
  profile.worker = {os::executable_path().string(), "worker", "cpu"};
  profile.again = options.measure;
  KS_TRY(const kernel::HardwareProfile device, target::measure_cpu(builder, profile));
  KS_TRY(const auto python, context.home.python(""));
  if (options.json) {
    fmt::print("{}", base::to_text({{"devices", base::Json::array({kernel::to_json(device)})},
                                    {"sandbox", sandbox.description()},
                                    {"compiler", compiler.version},
                                    {"python", python.string()},
                                    {"cache", builder.cache().string()}}));
    return kDone;
  }
  print_profile(device);
  fmt::print("  {:<12}{}\n  {:<12}{} ({})\n  {:<12}{}\n  {:<12}{}\n", "sandbox",
             sandbox.description(), "compiler", compiler.version, compiler.path.string(), "experts",
             python.empty()
                 ? "no Python environment: run.sh makes .venv, or --python ENV/bin/python"
                 : "Python at " + python.string(),
             "cache", builder.cache().string());
  return kDone;
}

}  // namespace ksearch::cli
