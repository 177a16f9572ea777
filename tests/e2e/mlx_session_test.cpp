// A measured session for Metal against the real MLX on its CPU device: baselines, references,
// outcomes, certificate. Kernels are watched in the engine as on a Mac; their dispatch alone is a
// stand-in (mlx_stand_in.cpp).
#include "evaluate/mlx_session.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "evaluate/gpu_ground.h"
#include "evaluate/verify.h"

namespace ksearch::evaluate {
namespace {
namespace fs = std::filesystem;

constexpr const char* kWorkloads =
    R"({"name": "t1x7", "role": "tiny", "axes": {"rows": 1, "cols": 7}, "types": {"T": "float32"}}
{"name": "t5x33", "role": "tiny", "axes": {"rows": 5, "cols": 33}, "types": {"T": "float16"}}
{"name": "f64x256", "role": "feedback", "axes": {"rows": 64, "cols": 256}, "types": {"T": "float32"}}
{"name": "h10x100", "role": "heldout", "axes": {"rows": 10, "cols": 100}, "types": {"T": "float32"}}
)";

class MlxSessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new fs::path(fs::temp_directory_path() / ("ksearch-mlx-" + std::to_string(getpid())));
    fs::create_directories(*folder_);
    fs::copy(fs::path(KSEARCH_SOURCE_DIR) / "tasks/softmax", *folder_ / "softmax",
             fs::copy_options::recursive);
    std::ofstream(*folder_ / "softmax/workloads.metal.jsonl") << kWorkloads;
    auto opened = open_mlx_session(options(), [](std::string_view) {});
    ASSERT_TRUE(opened) << opened.error().text();
    session_ = opened->release();
  }
  static void TearDownTestSuite() {
    delete session_;
    if (folder_) fs::remove_all(*folder_);
    delete folder_;
  }

  static MlxSessionOptions options() {
    MlxSessionOptions options;
    options.engine.task = *folder_ / "softmax";
    options.engine.environment = os::current_environment();
    options.engine.engine_worker = {KSEARCH_SIMT_WORKER, "worker", "simt"};
    options.engine.cpu_worker = {KSEARCH_CPU_WORKER, "worker", "cpu"};
    auto gpu = target::load_gpu_profile(fs::path(KSEARCH_SOURCE_DIR) / "knowledge/hardware",
                                        "apple-m1-max");
    EXPECT_TRUE(gpu);
    if (gpu) options.engine.gpu = *gpu;
    options.mlx = {.built_in = true, .version = "0.32", .device = "a CPU that stands in"};
    options.worker = {KSEARCH_MLX_STAND_IN};
    options.place = target::MlxPlace::cpu;
    options.timing = std::chrono::milliseconds(500);
    return options;
  }

  /// A thread a row, in a kernel of this name; VALUE goes to `out`.
  static kernel::Program program(const std::string& name, const std::string& value = "e / sum",
                                 const std::string& last = "cols") {
    const std::string body =
        "const int row = thread_position_in_grid.x;\n"
        "float most = -INFINITY, sum = 0;\n"
        "for (int i = 0; i < cols; ++i) most = max(most, float(x[row * cols + i]));\n"
        "for (int i = 0; i < cols; ++i) sum += exp(float(x[row * cols + i]) - most);\n"
        "for (int i = 0; i < " +
        last +
        "; ++i) {\n"
        "  const float e = exp(float(x[row * cols + i]) - most);\n"
        "  out[row * cols + i] = T(" +
        value + ");\n}\n";
    const std::string text = R"({"format": "ksearch.program/1", "task": "softmax", "dialect": "mlx",
      "sources": [{"path": ")" +
                             name + R"(.metal", "text": )" + base::Json(body).dump() + R"(}],
      "launches": [{"kernel": ")" +
                             name + R"(", "instantiate": [["T", "T"]], "threads": ["rows"],
                    "group_size": [32],
                    "args": ["x", {"i32": "cols", "name": "cols"}, "out"]}]})";
    auto json = base::parse_json(text, "test");
    EXPECT_TRUE(json);
    auto parsed = kernel::parse_program(*json, session_->task().definition, "test", nullptr);
    EXPECT_TRUE(parsed) << parsed.error().text();
    return *parsed;
  }
  static kernel::Outcome outcome_of(const kernel::Program& program) {
    auto reply = session_->evaluate({program, std::nullopt, {}, std::nullopt}, nullptr);
    if (const auto* lost = std::get_if<kernel::Lost>(&reply)) ADD_FAILURE() << lost->reason;
    return std::get<kernel::Outcome>(reply);
  }
  template <class Verdict>
  static const Verdict& as(const kernel::Outcome& outcome) {
    EXPECT_TRUE(std::holds_alternative<Verdict>(outcome.verdict)) << kernel::summary(outcome);
    return std::get<Verdict>(outcome.verdict);
  }

  static inline fs::path* folder_ = nullptr;
  static inline OpenedSession* session_ = nullptr;
};

TEST_F(MlxSessionTest, TheBaselineIsItsOwnOperationAndNoRebuiltOne) {
  const Baselines& baselines = session_->session().baselines();
  EXPECT_EQ(baselines.baseline, "expert");
  ASSERT_EQ(baselines.best.size(), 1u);
  EXPECT_EQ(baselines.best[0].expert, "mlx.softmax");
  EXPECT_GT(baselines.best[0].expert_ns, 0);
  EXPECT_GT(baselines.best[0].naive_ns, 0);
  for (const ExpertResult& result : baselines.experts) EXPECT_EQ(result.expert, "mlx.softmax");
  EXPECT_TRUE(session_->measures_gpu());
}

TEST_F(MlxSessionTest, ARightProgramIsMeasured) {
  const kernel::Outcome outcome = outcome_of(program("row"));
  const auto& measured = as<kernel::Measured>(outcome);
  EXPECT_EQ(measured.baseline, "expert");
  ASSERT_EQ(measured.workloads.size(), 1u);
  EXPECT_EQ(measured.workloads[0].expert, "mlx.softmax");
  EXPECT_GE(measured.workloads[0].ratios.at("expert").pairs, 2);
  EXPECT_EQ(kernel::summary(outcome).find("modelled"), std::string::npos);
}

TEST_F(MlxSessionTest, MoreWorkIsSlower) {
  // On a busy machine one try may be noise.
  double one = 0, two = 1;
  for (const std::string same : {"", " * 1.0f", " * 2 / 2"}) {
    const auto ratio_of = [&](const kernel::Outcome& outcome) {
      return as<kernel::Measured>(outcome).workloads[0].ratios.at("expert").value;
    };
    one = ratio_of(outcome_of(program("row", "e * (1 / sum)" + same)));
    two = ratio_of(outcome_of(program("twice", "e / sum" + same)));
    if (one > 1.2 * two) break;
  }
  EXPECT_GT(one, 1.2 * two);
}

TEST_F(MlxSessionTest, WhatIsWrongOnTheGpuOrSeenByTheEngineAloneFails) {
  const kernel::Outcome wrong = outcome_of(program("wrong"));
  EXPECT_EQ(as<kernel::WrongResult>(wrong).output, "out");
  EXPECT_EQ(wrong.stage, kernel::Stage::tiny);
  const kernel::Outcome unwritten = outcome_of(program("unwritten", "e / sum", "cols - 1"));
  const auto& unsafe = as<kernel::Unsafe>(unwritten);
  ASSERT_FALSE(unsafe.findings.empty());
  EXPECT_EQ(unsafe.findings[0].buffer, "out");
}

TEST_F(MlxSessionTest, WhatMlxRefusesSaysWhy) {
  const kernel::Outcome refused = outcome_of(program("refused"));
  EXPECT_NE(as<kernel::CompileFailed>(refused).log.find("undeclared identifier"),
            std::string::npos);
  const kernel::Outcome crowded = outcome_of(program("crowded"));
  EXPECT_NE(as<kernel::Unsupported>(crowded).why.find("Thread group size"), std::string::npos);
}

TEST_F(MlxSessionTest, TheCertificateSaysMachineAndVersion) {
  const auto certificate = session_->certify(program("row"), {}, nullptr);
  ASSERT_TRUE(certificate) << certificate.error().text();
  EXPECT_EQ(certificate->basis["mlx"], "0.32");
  EXPECT_EQ(certificate->basis["times"], "measured by MLX 0.32 on a CPU that stands in");
  std::set<std::string> passed;
  for (const CertificateCheck& check : certificate->checks) {
    if (check.passed) passed.insert(check.name);
    std::printf("    %s %s: %s\n", check.passed ? "ok  " : "FAIL", check.name.c_str(),
                check.finding.c_str());
    EXPECT_EQ(check.finding.find("does not apply"), std::string::npos) << check.finding;
  }
  // Times need a quiet machine; these do not.
  for (const char* name :
       {"schedules", "held_out", "inputs_unchanged", "sensitivity", "ghost_replay"})
    EXPECT_TRUE(passed.contains(name)) << name;
  EXPECT_EQ(certificate->heldout.size(), 1u);
  EXPECT_TRUE(certificate->heldout[0].ratios.contains("expert"));
}

TEST_F(MlxSessionTest, WithoutAMetalDeviceTheNaiveProgramSaysWhy) {
  MlxSessionOptions real = options();
  real.worker = {KSEARCH_MLX_WORKER, "serve"};
  const auto opened = open_mlx_session(real, [](std::string_view) {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text().find("[metal_kernel]"), std::string::npos)
      << opened.error().text();
}

/// Each operation of MLX's against the float64 reference of its task, on tiny shapes.
class MlxOperations : public ::testing::TestWithParam<const char*> {};

TEST_P(MlxOperations, AnswersAsTheReferenceOfItsTask) {
  EngineSessionOptions options;
  options.task = fs::path(KSEARCH_SOURCE_DIR) / "tasks" / GetParam();
  options.environment = os::current_environment();
  options.cpu_worker = {KSEARCH_CPU_WORKER, "worker", "cpu"};
  task::Task task;
  auto ground = GpuGround::lay(options, task);
  ASSERT_TRUE(ground) << ground.error().text();
  auto truth = Truth::open(task, (*ground)->reference(), nullptr, 1);
  ASSERT_TRUE(truth) << truth.error().text();
  const auto expert = std::ranges::find_if(
      task.experts, [](const task::Expert& e) { return e.operation.has_value(); });
  ASSERT_NE(expert, task.experts.end());
  kernel::HardwareProfile device;
  device.kind = "metal";
  target::MlxTarget mlx({.device = device,
                         .worker = {KSEARCH_MLX_WORKER, "serve"},
                         .place = target::MlxPlace::cpu,
                         .seed = 1});
  auto worker = start_mlx_operation(mlx, *expert, task.definition);
  ASSERT_TRUE(worker) << worker.error().text();
  base::Random random(1);
  int checked = 0;
  for (const kernel::Workload& w : task.with_role(kernel::Role::tiny)) {
    // On the CPU MLX keeps the scores of attention in bfloat16: 0.01 off where inputs are stressed.
    if (expert->operation->what == "attention" && w.types.at("T") == kernel::DType::bfloat16)
      continue;
    const task::InputMaker& maker = (*truth)->maker(w);
    Rig rig(**worker, maker, outputs_of(task.definition, maker.tensors()));
    const auto verified = verify(rig, **truth,
                                 {.workload = &w,
                                  .contents = contents_for(w, maker, 0),
                                  .limit_per_call = std::chrono::seconds(20)},
                                 random);
    EXPECT_TRUE(verified) << w.name << ": " << text(verified.error());
    checked += verified.has_value();
  }
  EXPECT_GT(checked, 4);
}

INSTANTIATE_TEST_SUITE_P(Tasks, MlxOperations,
                         ::testing::Values("attention", "matmul", "rms_norm", "softmax"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ksearch::evaluate
