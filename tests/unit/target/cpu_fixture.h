// A CPU target for tests: one kernel over tensors x and out of float32, built and run in a
// sandboxed worker. The build cache is the test program's own, so later tests find what earlier
// ones compiled.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "target/cpu/cpu_target.h"

namespace ksearch::target {

using namespace std::chrono_literals;

inline const std::filesystem::path& test_cache() {
  static const os::TempFolder folder = *os::TempFolder::create("ks-target-test");
  return folder.path();
}

inline const toolchain::Compiler& test_compiler() {
  static const toolchain::Compiler compiler = *toolchain::find_compiler(os::current_environment());
  return compiler;
}

struct CpuOptions {
  std::optional<os::SandboxWay> way = {};
  int threads = 1;
  bool static_check = true;
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 30;
};

inline CpuTarget make_target(const CpuOptions& o = {}) {
  CpuTargetOptions options;
  options.device.kind = "cpu";
  options.device.cores = o.threads;
  options.cpus = os::allowed_cpus();
  options.cpus.resize(std::min(options.cpus.size(), static_cast<std::size_t>(o.threads)));
  options.worker = {KSEARCH_CPU_WORKER};
  options.static_check = o.static_check;
  options.memory_limit_bytes = o.memory_limit_bytes;
  const auto sandbox =
      os::Sandbox::find({.force = o.way, .allow_none = o.way == os::SandboxWay::none});
  EXPECT_TRUE(sandbox) << sandbox.error().text();
  return CpuTarget(toolchain::Builder(test_compiler(), *sandbox, test_cache()), std::move(options));
}

/// extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group*), on n elements.
struct Case {
  kernel::Program program;
  std::vector<kernel::BoundProgram> plans{1};
  Job job;
  std::int64_t n = 0;

  explicit Case(std::string source, std::int64_t elements = 1000, std::int64_t groups = 1,
                int sets = 1)
      : n(elements) {
    program.dialect = kernel::Dialect::cpp;
    program.sources = {{"kernel.cpp", std::move(source)}};
    kernel::BoundLaunch launch;
    launch.kernel = "kernel";
    launch.groups = {groups, 1, 1};
    launch.args = {kernel::BoundTensor{"x", 0, false, kernel::DType::float32, {}},
                   kernel::BoundTensor{"out", 0, true, kernel::DType::float32, {}},
                   kernel::BoundScalar{kernel::ScalarKind::i64, n, "n"}};
    plans[0].launches = {launch};
    job.tensors = {{"x", kernel::DType::float32, {n}, kernel::Access::in},
                   {"out", kernel::DType::float32, {n}, kernel::Access::out}};
    job.sets = sets;
  }
  kernel::BoundLaunch& launch() { return plans[0].launches[0]; }
};

inline std::span<float> floats(Worker& worker, std::string_view tensor, int set = 0) {
  const auto bytes = worker.bytes(set, tensor);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Verdicts as a line: "Rejected: by sandbox: it called ...".
inline std::string text(const kernel::Verdict& verdict) {
  kernel::Outcome outcome;
  outcome.verdict = verdict;
  return kernel::summary(outcome);
}

/// Build, start, prepare and one call with x = 1, 2, 3, ... and out poisoned. What it came to:
/// "done", or the verdict, or "Lost: ...".
struct Trial {
  std::string came_to;
  std::unique_ptr<Worker> worker;
  std::vector<float> out;
  Done done;
};

inline Trial run_case(CpuTarget& target, Case& c, std::chrono::milliseconds limit = 20s,
                      const Trust* trust = nullptr) {
  Trial run;
  const auto failed = [&](const auto& reply) {
    if (const auto* verdict = std::get_if<kernel::Verdict>(&reply)) run.came_to = text(*verdict);
    if (const auto* lost = std::get_if<kernel::Lost>(&reply)) run.came_to = "Lost: " + lost->reason;
    return !run.came_to.empty();
  };
  if (const auto verdict = target.check(c.program)) {
    run.came_to = text(*verdict);
    return run;
  }
  const auto built = target.build({&c.program, &c.plans, trust});
  if (failed(built)) return run;
  auto worker = target.start(std::get<Executable>(built), trust);
  if (!worker) {
    run.came_to = "no worker: " + worker.error().text();
    return run;
  }
  run.worker = std::move(*worker);
  c.job.plan = &c.plans[0];
  if (failed(run.worker->prepare(c.job))) return run;
  for (int set = 0; set < c.job.sets; ++set) {
    const auto x = floats(*run.worker, "x", set), out = floats(*run.worker, "out", set);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    std::memset(out.data(), 0xff, out.size_bytes());
  }
  const int order[] = {0};
  const auto reply = run.worker->run(order, true, limit);
  if (failed(reply)) return run;
  run.done = std::get<Done>(reply);
  const auto out = floats(*run.worker, "out");
  run.out.assign(out.begin(), out.end());
  run.came_to = "done";
  return run;
}

inline constexpr const char* kDouble = R"(
extern "C" void kernel(const float* x, float* out, int64_t n, const ks_group* g) {
  for (int64_t i = g->id[0]; i < n; i += g->count[0]) out[i] = 2 * x[i];
})";

}  // namespace ksearch::target
