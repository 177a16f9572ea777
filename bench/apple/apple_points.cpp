// The time model against published measurements: each point of points.json beside what the model
// says, as a table of Markdown. Kernels are run in the engine for their counts; nothing is measured.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "os/files.h"
#include "os/process.h"
#include "os/sandbox.h"
#include "simt/check.h"
#include "simt/object.h"
#include "target/metal/time_model.h"

namespace {
using namespace ksearch;
namespace fs = std::filesystem;
const fs::path kSource = KSEARCH_SOURCE_DIR;

template <class T>
T must(base::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(1);
}

simt::Buffer buffer(std::string_view text, int index) {
  simt::Buffer b = must(simt::parse_buffer(text));
  b.index = index;
  return b;
}

class Points {
 public:
  explicit Points(toolchain::Builder builder) : builder_(std::move(builder)) {}

  target::ModelledLaunch launch(const std::string& device, const std::string& kernel,
                                std::array<std::uint32_t, 3> groups,
                                std::array<std::uint32_t, 3> size,
                                const std::vector<std::string>& buffers) {
    simt::Case all;
    all.file = "points.metal";
    all.source = must(os::read_file(kSource / "bench/apple/points.metal"));
    simt::Launch one;
    one.kernel = kernel;
    one.groups = groups;
    one.group_size = size;
    all.launches = {one};
    for (std::size_t i = 0; i < buffers.size(); ++i)
      all.buffers.push_back(buffer(buffers[i], static_cast<int>(i)));
    simt::CheckOptions options;
    options.worker = {KSEARCH_SIMT_WORKER, "worker", "simt"};
    options.trace_groups = 4;
    options.trace_only = true;
    const simt::Report report = must(simt::check(builder_, all, options));
    gpu_ = must(target::load_gpu_profile(kSource / "knowledge/hardware", device));
    target::GpuLaunch what{kernel, double(groups[0]) * groups[1] * groups[2],
                           double(size[0]) * size[1] * size[2]};
    return must(target::model_launch(gpu_, what, report.trace));
  }
  const target::GpuProfile& gpu() const { return gpu_; }

 private:
  toolchain::Builder builder_;
  target::GpuProfile gpu_;
};

/// Cycles of a scheduler for one FMA, so many SIMD-groups on each core.
double fma_cycles(Points& points, const std::string& kernel, const std::string& type,
                  std::uint32_t simdgroups) {
  constexpr int kRounds = 64, kOperations = 64 * kRounds;
  const std::uint32_t in_a_group = simdgroups > 22 ? 22 : simdgroups;
  const std::uint32_t groups = 32 * simdgroups / in_a_group, threads = groups * 32 * in_a_group;
  const auto launch =
      points.launch("apple-m1-max", kernel, {groups, 1, 1}, {32 * in_a_group, 1, 1},
                    {fmt::format("out={}:{}", type, threads), fmt::format("n=i32:1:const:{}", kRounds)});
  return launch.kernel_seconds * points.gpu().at("clock_hz") * 4 / (double(kOperations) * simdgroups);
}

double fma_tflops(Points& points, const std::string& device) {
  constexpr std::uint32_t kGroups = 960, kRounds = 32;
  const auto launch = points.launch(
      device, "fma_f32_8", {kGroups, 1, 1}, {256, 1, 1},
      {fmt::format("out=f32:{}", kGroups * 256), fmt::format("n=i32:1:const:{}", kRounds)});
  return 2.0 * 64 * kRounds * kGroups * 256 / launch.kernel_seconds / 1e12;
}

double copy_gb(Points& points, const std::string& device) {
  constexpr std::uint32_t kElements = 1 << 24;  // float4 in 256 MiB
  const auto launch = points.launch(
      device, "copy", {kElements / 256, 1, 1}, {256, 1, 1},
      {fmt::format("in=f32:{}:const:0", 4 * kElements), fmt::format("out=f32:{}", 4 * kElements)});
  return 2.0 * 16 * kElements / launch.seconds / 1e9;
}

double gemm_rate(Points& points, const std::string& type) {
  constexpr std::uint32_t kSize = 2048;
  const auto launch = points.launch(
      "apple-m1-max", "gemm_" + type, {kSize / 64, kSize / 64, 1}, {128, 1, 1},
      {fmt::format("A={}:{}:normal", type, kSize * kSize),
       fmt::format("B={}:{}:normal", type, kSize * kSize), fmt::format("C={}:{}", type, kSize * kSize),
       fmt::format("n=i32:1:const:{}", kSize)});
  return std::pow(double(kSize), 3) / (launch.seconds * points.gpu().at("clock_hz") * 32);
}

double small_dispatches_ms(Points& points, double a_buffer) {
  const auto launch =
      points.launch("apple-m3-ultra", "add_one", {1, 1, 1}, {32, 1, 1}, {"x=f32:32:normal:0:1:inout"});
  return target::model_program(points.gpu(), {launch}, {3200}, a_buffer).seconds * 1e3;
}

double ssm_us(Points& points) {
  const auto launch = points.launch(
      "apple-m5", "ssm_step", {1, 8, 64}, {32, 8, 1},
      {"x=bf16:16384:normal", "dt=f32:256:uniform:0:1", "B=bf16:4096:normal", "C=bf16:4096:normal",
       "A=f32:64:uniform:-4:-1", "state=f32:524288:normal", "y=bf16:16384", "next=f32:524288",
       "n=i32:1:const:4"});
  return launch.seconds * 1e6;
}

std::optional<double> modelled(Points& points, const std::string& name) {
  if (name == "ffma32_ilp1_4") return fma_cycles(points, "fma_f32_1", "f32", 4);
  if (name == "ffma32_ilp1_8") return fma_cycles(points, "fma_f32_1", "f32", 8);
  if (name == "ffma32_ilp1_88") return fma_cycles(points, "fma_f32_1", "f32", 88);
  if (name == "ffma32_ilp4_4") return fma_cycles(points, "fma_f32_4", "f32", 4);
  if (name == "ffma32_ilp4_8") return fma_cycles(points, "fma_f32_4", "f32", 8);
  if (name == "ffma32_ilp4_88") return fma_cycles(points, "fma_f32_4", "f32", 88);
  if (name == "ffma16_ilp1_4") return fma_cycles(points, "fma_f16_1", "f16", 4);
  if (name == "ffma16_ilp1_8") return fma_cycles(points, "fma_f16_1", "f16", 8);
  if (name == "ffma16_ilp1_88") return fma_cycles(points, "fma_f16_1", "f16", 88);
  if (name == "small_dispatches") return small_dispatches_ms(points, 50);
  if (name == "small_dispatches_200") return small_dispatches_ms(points, 200);
  if (name == "gemm_f32") return gemm_rate(points, "f32");
  if (name == "gemm_f16") return gemm_rate(points, "f16");
  if (name.starts_with("copy_")) return copy_gb(points, "apple-" + name.substr(5));
  if (name.starts_with("fma_")) return fma_tflops(points, "apple-" + name.substr(4));
  if (name == "ssm_step_m5") return ssm_us(points);
  return std::nullopt;  // a program of the project's: ksearch eval (docs/apple-time-model.md)
}

}  // namespace

int main() {
  const os::Environment environment = os::current_environment();
  Points points(toolchain::Builder(must(simt::find_clang(environment)), must(os::Sandbox::find({})),
                                   os::cache_folder(environment)));
  const auto json = must(base::parse_json(
      must(os::read_file(kSource / "bench/apple/points.json")), "points.json"));
  fmt::print("| point | device | published | modelled | ratio | role |\n|---|---|---|---|---|---|\n");
  int kept_out = 0, close = 0;
  for (const base::Json& point : json.at("points")) {
    const std::string name = point.at("name"), role = point.at("role");
    const auto value = modelled(points, name);
    const double published = point.at("value");
    const double ratio = value ? *value / published : 0;
    fmt::print("| {} | {} | {:g} {} | {} | {} | {} |\n", name,
               point.at("device").get<std::string>(), published,
               point.at("unit").get<std::string>(), value ? fmt::format("{:.3g}", *value) : "-",
               value ? fmt::format("{:.2f}", ratio) : "-", role);
    std::fflush(stdout);
    if (role != "kept_out" || !value) continue;
    ++kept_out;
    close += ratio > 0.7 && ratio < 1.3;
  }
  fmt::print("\n{} of {} kept out points that this program models are within 30%\n", close, kept_out);
}
