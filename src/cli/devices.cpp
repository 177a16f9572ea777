// ksearch devices: this machine, as programs see it, or a GPU that is known as data.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "report/columns.h"
#include "report/numbers.h"
#include "target/cpu/cpu_info.h"
#include "target/cpu/profile.h"
#include "target/metal/gpu_profile.h"
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

/// 1.296e+09 Hz reads badly: powers of 1000 with their letter.
std::string figure_text(double value, std::string_view unit) {
  if (unit == "B" && value >= 1024) return report::bytes_text(value);
  constexpr std::pair<double, const char*> kScales[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},
                                                        {1, ""},     {1e-6, "u"}, {1e-9, "n"}};
  const bool scaled = unit == "Hz" || unit == "B/s" || unit == "s";
  for (const auto& [scale, letter] : kScales)
    if (scaled && value >= scale) return fmt::format("{:.4g} {}{}", value / scale, letter, unit);
  return fmt::format("{:g}{}{}", value, unit.empty() ? "" : " ", unit);
}

void print_gpu(const target::GpuProfile& gpu) {
  fmt::print("{}  {}, {}; {:.2f} TFLOP/s float32 by its cores and clock\n", gpu.name, gpu.family,
             gpu.architecture, gpu.flops() / 1e12);
  const auto line = [](const std::string& name, const std::string& value, const target::Figure& f,
                       std::string_view meaning) {
    fmt::print("  {:<28}{:>14}  {} {:<9}{}\n", name, value, f.confidence, f.source, meaning);
  };
  for (const target::FigureInfo& info : target::gpu_figures())
    if (const auto f = gpu.figures.find(std::string(info.name)); f != gpu.figures.end())
      line(f->first, figure_text(f->second.value, info.unit), f->second, info.meaning);
  fmt::print("  cycles that a scheduler is busy with an operation of a SIMD-group:\n");
  for (const auto& [name, figure] : gpu.issue_cycles)
    line(name, fmt::format("{:g}", figure.value), figure, "");
  fmt::print("  threads of a group, by registers of 16 bits:");
  for (const target::ThreadLimit& limit : gpu.thread_limits)
    fmt::print(" {}:{}", limit.half_registers, limit.threads);
  fmt::print(
      "\nConfidence: A primary source, B secondary, K general knowledge, D derived, E our "
      "estimate. Sources:\n");
  for (const auto& [tag, what] : gpu.sources) fmt::print("  {:<11}{}\n", tag, what);
}

base::Json gpu_json(const target::GpuProfile& gpu) {
  const auto figures = [](const std::map<std::string, target::Figure>& all) {
    base::Json json = base::Json::object();
    for (const auto& [name, f] : all)
      json[name] = {
          {"value", f.value}, {"source", f.source}, {"confidence", std::string(1, f.confidence)}};
    return json;
  };
  base::Json limits = base::Json::array();
  for (const target::ThreadLimit& limit : gpu.thread_limits)
    limits.push_back({limit.half_registers, limit.threads});
  return {{"name", gpu.name},
          {"family", gpu.family},
          {"architecture", gpu.architecture},
          {"figures", figures(gpu.figures)},
          {"issue_cycles", figures(gpu.issue_cycles)},
          {"thread_limits", std::move(limits)},
          {"sources", gpu.sources}};
}

base::Result<int> gpu_device(const Context& context, const DevicesOptions& options) {
  KS_TRY(const target::GpuProfile gpu,
         target::load_gpu_profile(context.home.hardware_folder(), options.name));
  if (options.json)
    fmt::print("{}", base::to_text(gpu_json(gpu)));
  else
    print_gpu(gpu);
  return kDone;
}

/// Becomes the program that is linked with MLX; returns where it cannot.
base::Result<int> self_test(bool json) {
  const std::string worker = (os::executable_path().parent_path() / "ksearch_mlx_worker").string();
  std::fflush(stdout);
  execl(worker.c_str(), worker.c_str(), json ? "--json" : nullptr, nullptr);
  return base::environment_error("--self-test", fmt::format("{}: {}", worker, std::strerror(errno)),
                                 "cmake --build BUILD --target ksearch_mlx_worker");
}

}  // namespace

base::Result<int> devices(const Context& context, const DevicesOptions& options) {
  if (options.self_test) return self_test(options.json);
  if (!options.name.empty()) return gpu_device(context, options);
  KS_TRY(const toolchain::Compiler compiler, toolchain::find_compiler(context.environment));
  KS_TRY(const os::Sandbox sandbox, os::Sandbox::find({}));
  const std::filesystem::path cache = os::cache_folder(context.environment);
  KS_RETURN_IF_ERROR(os::make_cache(cache));
  const toolchain::Builder builder(compiler, sandbox, cache);
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
  fmt::print("Known as data (ksearch devices NAME): {}\n",
             fmt::join(target::list_gpu_profiles(context.home.hardware_folder()), ", "));
  return kDone;
}

}  // namespace ksearch::cli
