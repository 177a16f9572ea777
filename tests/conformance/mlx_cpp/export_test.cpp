// `ksearch export --as mlx-cpp` beside the real MLX: what it writes compiles without a warning,
// chooses tunables, refuses what it must, and computes, with kernels run in the engine and by its
// reference on MLX's CPU, what float64 says. Naive programs and one step a task; with
// KSEARCH_ALL_PROGRAMS set, every program of dialect mlx.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

#include "driver_lab.h"
#include "evaluate/truth.h"
#include "kernel/bind.h"
#include "os/sandbox.h"
#include "target/cpu/cpu_target.h"
#include "target/cpu/profile.h"
#include "target/metal/gpu_profile.h"

namespace ksearch::formats {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = KSEARCH_SOURCE_DIR;
/// Of a workload's inputs and outputs, so that a run takes about a second.
constexpr std::int64_t kMostElements = 10'000;

struct Case {
  const char* task;
  const char* step;  ///< of its catalog, for a run that is not of all programs
};

std::vector<fs::path> programs(const Case& one) {
  const fs::path task = kRoot / "tasks" / one.task, steps = kRoot / "catalog" / one.task / "mlx";
  if (!std::getenv("KSEARCH_ALL_PROGRAMS")) return {task / "naive/mlx", steps / one.step};
  std::vector<fs::path> found = {task / "naive/mlx"};
  for (const fs::path& folder : {task / "experts", steps})
    if (fs::is_directory(folder))
      for (const auto& entry : fs::directory_iterator(folder))
        // mlx-lm's loop adds to its tensors, launch by launch: that is refused (below).
        if (fs::exists(entry.path() / "program.json") && entry.path().filename() != "mlx_lm_loop")
          found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// A task, the float64 truth of its tiny workloads, and a driver for its exports.
class MlxCppExport : public testing::TestWithParam<Case> {
 protected:
  void open(const std::string& name) {
    if (std::string(KSEARCH_MLX_ROOT).empty())
      GTEST_SKIP() << "built without MLX: pip install 'mlx[cpu]' into .venv (./test.sh does), or "
                      "name its share/cmake/MLX by -DMLX_DIR";
    // `name` itself where it is absolute.
    auto task = task::load_task(kRoot / "tasks" / name, "metal");
    auto folder = os::TempFolder::create("ksearch-mlx-cpp-");
    ASSERT_TRUE(task && folder);
    task_ = std::move(*task);
    lab_.emplace(task_.definition, std::move(*folder));
  }

  void open_truth() {
    const auto environment = os::current_environment();
    auto compiler = toolchain::find_compiler(environment);
    auto sandbox = os::Sandbox::find({});
    auto gpu = target::load_gpu_profile(kRoot / "knowledge/hardware", "apple-m1-max");
    ASSERT_TRUE(compiler && sandbox && gpu);
    device_ = target::as_hardware(*gpu);
    cpu_ = std::make_unique<target::CpuTarget>(
        toolchain::Builder(*compiler, *sandbox, os::cache_folder(environment)),
        target::CpuTargetOptions{.device = target::describe_cpu(2),
                                 .worker = {KSEARCH_CPU_WORKER, "worker", "cpu"}});
    auto truth = evaluate::Truth::open(task_, *cpu_, nullptr, 1);
    ASSERT_TRUE(truth) << truth.error().text();
    truth_ = std::move(*truth);
  }

  std::vector<NamedArray> inputs_of(const kernel::Workload& workload) {
    const task::InputMaker& maker = truth_->maker(workload);
    std::vector<NamedArray> arrays;
    for (const kernel::TensorShape& t : maker.tensors()) {
      if (t.access == kernel::Access::out) continue;
      std::vector<std::byte> bytes(t.bytes());
      maker.fill({}, t.name, bytes);
      arrays.push_back({t.name, t.dtype, t.shape,
                        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    }
    for (const std::string& axis : asked_axes(task_.definition))
      arrays.push_back(scalar(axis, workload.axes.at(axis)));
    for (const auto& [name, value] : workload.params) arrays.push_back(scalar(name, value));
    return arrays;
  }

  /// For each element type the largest tiny workload that is small enough and that the plan takes.
  std::vector<const kernel::Workload*> workloads_for(const kernel::Program& program) {
    std::map<std::string, std::pair<std::int64_t, const kernel::Workload*>> largest;
    for (const kernel::Workload& w : task_.workloads) {
      std::int64_t elements = 0;
      for (const kernel::TensorShape& t : truth_->maker(w).tensors()) elements += t.elements();
      if (w.role != kernel::Role::tiny || elements > kMostElements ||
          !kernel::choose(program, task_.definition, w, device_, program.select))
        continue;
      auto& [most, workload] = largest[std::string(kernel::name(w.types.at("T")))];
      if (elements >= most) std::tie(most, workload) = std::pair(elements, &w);
    }
    std::vector<const kernel::Workload*> all;
    for (const auto& [type, found] : largest) all.push_back(found.second);
    return all;
  }

  void expect_right(const std::string& function, const kernel::Workload& workload) {
    SCOPED_TRACE(function + " on " + workload.name);
    const DriverLab::Result result = lab_->call(function, inputs_of(workload));
    ASSERT_EQ(result.code, 0) << result.said;
    const auto truth = truth_->of(workload, {});
    ASSERT_TRUE(truth);
    const auto outputs = evaluate::outputs_of(task_.definition, truth_->maker(workload).tensors());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& got = result.arrays.at(std::to_string(i));
      ASSERT_EQ(got.size(), outputs[i].shape.bytes());
      const auto bytes = std::as_bytes(std::span(got));
      const evaluate::Comparison same = evaluate::compare(outputs[i], bytes, (**truth)[i]);
      EXPECT_TRUE(same.right) << same.why;
    }
  }

  task::Task task_;
  kernel::HardwareProfile device_;
  std::unique_ptr<target::CpuTarget> cpu_;
  std::unique_ptr<evaluate::Truth> truth_;
  std::optional<DriverLab> lab_;
};

TEST_P(MlxCppExport, ComputesWhatFloat64Says) {
  open(GetParam().task);
  if (IsSkipped()) return;
  ASSERT_NO_FATAL_FAILURE(open_truth());
  std::map<std::string, kernel::Program> exported;
  for (const fs::path& path : programs(GetParam())) {
    const auto program = kernel::load_program(path / "program.json", task_.definition);
    ASSERT_TRUE(program) << program.error().text();
    const std::string name = "p_" + path.filename().string();
    ASSERT_EQ(lab_->add(path, name), "");
    exported[name] = *program;
  }
  ASSERT_EQ(lab_->build(), "");
  for (const auto& [name, program] : exported) {
    const auto workloads = workloads_for(program);
    EXPECT_FALSE(workloads.empty());
    for (const kernel::Workload* workload : workloads) {
      expect_right(name, *workload);
      if (name == "p_mlx") expect_right(name + ".reference", *workload);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, MlxCppExport,
    testing::Values(Case{"attention", "short_code"}, Case{"attention_decode", "key_blocks"},
                    Case{"matmul", "simdgroup_tiles"}, Case{"moe_routing", "fused_rows"},
                    Case{"paged_attention", "key_blocks"}, Case{"rms_norm", "split_rows"},
                    Case{"selective_scan", "two_pass"}, Case{"softmax", "split_rows"}),
    [](const auto& info) { return info.param.task; });

TEST_F(MlxCppExport, RefusesOtherShapesAndDtypesAndSaysWhich) {
  open("attention");
  if (IsSkipped()) return;
  ASSERT_EQ(lab_->add(kRoot / "tasks/attention/naive/mlx", "attention"), "");
  ASSERT_EQ(lab_->build(/*twice=*/true), "");
  const auto said = [&](const NamedArray& q, const NamedArray& k, bool engine = true) {
    NamedArray v = k;
    v.name = "v";
    const auto result =
        lab_->call("attention", {q, k, v, scalar("causal", true), scalar("scale", 0.125)}, engine);
    return fmt::format("{}: {}", result.code, result.said);
  };
  const NamedArray q = floats("q", {1, 4, 8, 64}), k = floats("k", {1, 2, 8, 64});
  EXPECT_EQ(said(floats("q", {4, 8, 64}), k), "3: q has 3 dimensions, 4 are meant\n");
  EXPECT_EQ(said(q, floats("k", {1, 2, 8, 32})),
            "3: k has shape (1, 2, 8, 32), (1, 2, 8, 64) is meant\n");
  EXPECT_EQ(said(q, floats("k", {1, 3, 8, 64})), "3: H % Hkv == 0 does not hold\n");
  NamedArray integers = q;
  integers.dtype = kernel::DType::int32;
  EXPECT_EQ(said(integers, k), "3: q is int32; float32, bfloat16, float16 will do\n");
  NamedArray half = floats("k", {1, 2, 8, 32});
  half.dtype = kernel::DType::float16;
  half.shape = k.shape;
  EXPECT_EQ(said(q, half), "3: k is float16, float32 is meant\n");
  // All is well, but there is no GPU: MLX's own words.
  EXPECT_EQ(said(q, k, false), "4: [metal_kernel] No Metal back-end.\n");
}

TEST_F(MlxCppExport, ChoosesTunablesByShapeAndBuildsKernelsOnce) {
  open("softmax");
  if (IsSkipped()) return;
  ASSERT_EQ(lab_->add(kRoot / "python/tests/two_pass_softmax", "two_pass"), "");
  lab_->add_function("thrice", R"([](const driver::Inputs& in) {
      for (const char* x : {"x", "wide", "x"}) two_pass_mlx::two_pass(in.at(x));
      return driver::listed(mlx::core::array(mlx::core::fast::metal_kernels_built()));
    })");
  ASSERT_EQ(lab_->build(), "");
  const auto launches = [&](std::int64_t columns) {
    const auto result = lab_->call("two_pass", {floats("x", {2, columns})});
    EXPECT_EQ(result.code, 0) << result.said;
    std::string text;
    for (const base::Json& one : lab_->cases()) {
      const std::string kernel = one["launches"][0]["kernel"];
      text += fmt::format(
          "{} {} {} {}\n", kernel.substr(0, kernel.find('_')), kernel.substr(kernel.rfind('_') + 1),
          one["launches"][0]["grid_threads"].dump(), one["body"]["template"].dump());
    }
    return text;
  };
  // CHUNK 256 and 64; kernels are called by their BASE_2, 0 and 1.
  EXPECT_EQ(launches(77),
            "partial 0 [32,2,1] {\"CHUNK\":256,\"T\":\"float32\"}\n"
            "normalise 0 [77,2,1] {\"ONE\":true,\"T\":\"float32\"}\n");
  EXPECT_EQ(launches(300),
            "partial 1 [160,2,1] {\"CHUNK\":64,\"T\":\"float32\"}\n"
            "normalise 1 [300,2,1] {\"ONE\":false,\"T\":\"float32\"}\n");
  EXPECT_EQ(lab_->call("two_pass", {floats("x", {1, 600'000})}).said,
            "two_pass: there is no plan for these sizes\n");
  const auto thrice = lab_->call("thrice", {floats("x", {2, 77}), floats("wide", {2, 300})});
  ASSERT_EQ(thrice.code, 0) << thrice.said;
  EXPECT_EQ(thrice.arrays.at("0"), std::string("\4\0\0\0", 4));
}

TEST_F(MlxCppExport, AnyNameWillDo) {
  const fs::path taken = kRoot / "python/tests/taken_names";
  open(taken);
  if (IsSkipped()) return;
  ASSERT_EQ(lab_->add(taken / "program.json", "tuple", taken), "");
  ASSERT_EQ(lab_->build(), "");
  const auto said = [&](std::int64_t rows, std::int64_t nan, bool detail) {
    std::vector<NamedArray> inputs = {floats("mx", {rows, 70}), floats("D", {70}),
                                      scalar("NAN", nan),       scalar("stream", std::int64_t{3}),
                                      scalar("def", true),      scalar("hashlib", 0.5)};
    if (detail) inputs.push_back(scalar("detail", 2.0));
    const auto result = lab_->call("tuple", inputs);
    if (result.code != 0) return fmt::format("{}: {}", result.code, result.said);
    const std::string& made = result.arrays.at("0");
    std::vector<float> values(made.size() / sizeof(float));
    std::memcpy(values.data(), made.data(), made.size());
    return fmt::format("{} times {}", std::ranges::count(values, values[0]), values[0]);
  };
  EXPECT_EQ(said(3, 1, false), "210 times 4.5");
  EXPECT_EQ(said(1, 1, true), "70 times 6.5");
  EXPECT_EQ(said(1, 1, false), "3: no launch of the plan writes made for these sizes\n");
  EXPECT_EQ(said(3, 2, false), "3: NAN == errno does not hold\n");
}

TEST_F(MlxCppExport, LaunchesThatAddToTheirTensorsAreRefused) {
  open("selective_scan");
  if (IsSkipped()) return;
  EXPECT_THAT(lab_->add(kRoot / "tasks/selective_scan/experts/mlx_lm_loop", "loop"),
              HasSubstr("MLX gives every call outputs of its own"));
}

}  // namespace
}  // namespace ksearch::formats
