// Every program of dialect mlx in the project, catalog steps, naive programs and experts, run
// watched in the engine and compared with float64. Two tiny shapes each; with KSEARCH_ALL_SHAPES
// set, all of them under three orders of SIMD-groups; with KSEARCH_ONLY_STEPS="wide_reads
// two_rows", those steps of the catalog alone.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "evaluate/engine_judge.h"
#include "os/files.h"
#include "os/sandbox.h"
#include "simt/object.h"
#include "target/cpu/cpu_target.h"
#include "target/cpu/profile.h"

namespace ksearch::evaluate {
namespace {
namespace fs = std::filesystem;

const fs::path kRoot = KSEARCH_SOURCE_DIR;

/// "attention catalog/attention/mlx/wide_reads": task and folder.
std::vector<std::pair<std::string, fs::path>> programs() {
  std::vector<std::pair<std::string, fs::path>> found;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "catalog"))
    if (entry.path().filename() == "program.json" &&
        entry.path().parent_path().parent_path().filename() == "mlx")
      found.emplace_back(entry.path().parent_path().parent_path().parent_path().filename(),
                         entry.path());
  for (const auto& task : fs::directory_iterator(kRoot / "tasks"))
    for (const auto& entry : fs::recursive_directory_iterator(task.path()))
      if (entry.path().filename() == "program.json" &&
          os::read_file(entry.path()).value_or("").find("\"dialect\": \"mlx\"") !=
              std::string::npos)
        found.emplace_back(task.path().filename(), entry.path());
  std::sort(found.begin(), found.end());
  if (const char* only = std::getenv("KSEARCH_ONLY_STEPS")) {
    const std::string names = " " + std::string(only) + " ";
    std::erase_if(found, [&](const auto& program) {
      const std::string step = program.second.parent_path().filename();
      return names.find(" " + step + " ") == std::string::npos;
    });
  }
  return found;
}

/// What judging the programs of one task needs; made once.
struct Bench {
  task::Task task;
  std::unique_ptr<target::CpuTarget> reference;
  target::GpuProfile gpu;
  std::unique_ptr<EngineJudge> judge;
};

std::unique_ptr<Bench> open_bench(const std::string& name) {
  auto bench = std::make_unique<Bench>();
  const auto environment = os::current_environment();
  auto task = task::load_task(kRoot / "tasks" / name, "metal");
  auto gpu = target::load_gpu_profile(kRoot / "knowledge/hardware", "apple-m1-max");
  auto clang = simt::find_clang(environment);
  auto compiler = toolchain::find_compiler(environment);
  auto sandbox = os::Sandbox::find({});
  EXPECT_TRUE(task && gpu && clang && compiler && sandbox);
  bench->task = std::move(*task);
  bench->gpu = std::move(*gpu);
  const fs::path cache = os::cache_folder(environment);
  bench->reference = std::make_unique<target::CpuTarget>(
      toolchain::Builder(*compiler, *sandbox, cache),
      target::CpuTargetOptions{.device = target::describe_cpu(2),
                               .worker = {KSEARCH_CPU_WORKER, "worker", "cpu"}});
  bench->judge = std::make_unique<EngineJudge>(
      bench->task, bench->gpu,
      EngineRunner(toolchain::Builder(*clang, *sandbox, cache),
                   {KSEARCH_SIMT_WORKER, "worker", "simt"}, bench->gpu, 2),
      *bench->reference, 1);
  const auto opened = bench->judge->open_truth();
  EXPECT_TRUE(opened) << opened.error().text();
  return bench;
}

class MetalCatalog : public ::testing::TestWithParam<std::string> {};

TEST_P(MetalCatalog, EveryProgramIsCleanAndRightOnOddShapes) {
  const auto bench = open_bench(GetParam());
  const bool all = std::getenv("KSEARCH_ALL_SHAPES") != nullptr;
  std::vector<simt::ScheduleChoice> schedules{{"default", 0}};
  if (all) schedules = {{"default", 0}, {"reversed", 0}, {"random", 1}};
  int checked = 0;
  for (const auto& [task, path] : programs()) {
    if (task != GetParam()) continue;
    const auto program = kernel::load_program(path, bench->task.definition);
    ASSERT_TRUE(program) << program.error().text();
    std::string at;
    const auto expert = std::ranges::find(bench->task.experts, path, &task::Expert::path);
    const auto result =
        bench->judge->check_tiny(*program, all ? 1000 : 2, schedules, at,
                                 expert == bench->task.experts.end() ? nullptr : &*expert);
    EXPECT_TRUE(result) << fs::relative(path, kRoot) << " on " << at << ": "
                        << (result ? "" : text(result.error()));
    ++checked;
    if (!all) continue;  // it takes long: how far it came
    std::printf("%s %s\n", result ? "clean" : "NOT CLEAN", fs::relative(path, kRoot).c_str());
    std::fflush(stdout);
  }
  if (!std::getenv("KSEARCH_ONLY_STEPS")) EXPECT_GE(checked, 3);
}

INSTANTIATE_TEST_SUITE_P(Tasks, MetalCatalog,
                         ::testing::Values("attention", "attention_decode", "matmul", "moe_routing",
                                           "paged_attention", "rms_norm", "selective_scan",
                                           "softmax"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ksearch::evaluate
