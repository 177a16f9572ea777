// A whole session on the engine: what becomes of right, wrong, racy and broken programs for an
// Apple GPU, and that every time is said to be modelled.
#include "evaluate/engine_session.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ksearch::evaluate {
namespace {
namespace fs = std::filesystem;

constexpr const char* kWorkloads =
    R"({"name": "t1x7", "role": "tiny", "axes": {"rows": 1, "cols": 7}, "types": {"T": "float32"}}
{"name": "t5x33", "role": "tiny", "axes": {"rows": 5, "cols": 33}, "types": {"T": "float16"}}
{"name": "f64x256", "role": "feedback", "axes": {"rows": 64, "cols": 256}, "types": {"T": "float32"}, "check": {"rows": 8}}
{"name": "h10x100", "role": "heldout", "axes": {"rows": 10, "cols": 100}, "types": {"T": "float32"}}
)";

/// A SIMD-group a row; BEFORE and AFTER stand around the write of the result.
std::string body(const std::string& before, const std::string& value) {
  return R"(
  const uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
  threadgroup float part[32];
  float most = -INFINITY;
  for (int i = lane; i < cols; i += 32) most = max(most, float(x[row * cols + i]));
  most = simd_max(most);
  float sum = 0;
  for (int i = lane; i < cols; i += 32) sum += exp(float(x[row * cols + i]) - most);
  sum = simd_sum(sum);
  part[lane] = sum;
)" + before +
         "  for (int i = lane; i < cols; i += 32) out[row * cols + i] = T(" + value + ");\n";
}
const std::string kRight = "exp(float(x[row * cols + i]) - most) / sum";

class EngineSessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ =
        new fs::path(fs::temp_directory_path() / ("ksearch-engine-" + std::to_string(getpid())));
    fs::create_directories(*folder_);
    fs::copy(fs::path(KSEARCH_SOURCE_DIR) / "tasks/softmax", *folder_ / "softmax",
             fs::copy_options::recursive);
    std::ofstream(*folder_ / "softmax/workloads.metal.jsonl") << kWorkloads;
    EngineSessionOptions options;
    options.task = *folder_ / "softmax";
    options.environment = os::current_environment();
    options.engine_worker = {KSEARCH_SIMT_WORKER, "worker", "simt"};
    options.cpu_worker = {KSEARCH_CPU_WORKER, "worker", "cpu"};
    auto gpu = target::load_gpu_profile(fs::path(KSEARCH_SOURCE_DIR) / "knowledge/hardware",
                                        "apple-m1-max");
    ASSERT_TRUE(gpu);
    options.gpu = *gpu;
    auto opened = open_engine_session(options, [](std::string_view) {});
    ASSERT_TRUE(opened) << opened.error().text();
    session_ = opened->release();
  }
  static void TearDownTestSuite() {
    delete session_;
    if (folder_) fs::remove_all(*folder_);
    delete folder_;
  }

  static kernel::Program program(const std::string& source, const std::string& threads = "32") {
    const std::string text = R"({"format": "ksearch.program/1", "task": "softmax", "dialect": "mlx",
      "sources": [{"path": "row.metal", "text": )" +
                             base::Json(source).dump() + R"(}],
      "launches": [{"kernel": "row", "instantiate": [["T", "T"]], "groups": ["rows"],
                    "group_size": [)" +
                             threads + R"(],
                    "args": ["x", {"i32": "cols"}, "out"]}]})";
    auto json = base::parse_json(text, "test");
    auto parsed = kernel::parse_program(*json, session_->task().definition, "test", nullptr);
    EXPECT_TRUE(parsed) << parsed.error().text();
    return *parsed;
  }
  static kernel::Outcome outcome_of(const kernel::Program& program) {
    auto reply = session_->evaluate({program, std::nullopt, {}, std::nullopt}, nullptr);
    EXPECT_TRUE(std::holds_alternative<kernel::Outcome>(reply));
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

TEST_F(EngineSessionTest, ARightProgramIsModelledAndNeverMeasured) {
  const kernel::Outcome outcome = outcome_of(program(body("", kRight)));
  const auto& modelled = as<kernel::Modelled>(outcome);
  EXPECT_EQ(modelled.profile, "apple-m1-max");
  ASSERT_EQ(modelled.workloads.size(), 1u);
  EXPECT_GT(modelled.workloads[0].median_ns, 2500);  // a dispatch at least
  EXPECT_TRUE(modelled.ratios.contains("naive"));
  EXPECT_NE(kernel::summary(outcome).find("modelled"), std::string::npos);
  ASSERT_FALSE(outcome.notes.empty());
  EXPECT_NE(outcome.notes[0].find("bound by"), std::string::npos);
}

TEST_F(EngineSessionTest, AWrongOneSaysWhere) {
  const auto outcome = outcome_of(program(body("", "exp(float(x[row * cols + i]) - most)")));
  EXPECT_EQ(as<kernel::WrongResult>(outcome).output, "out");
}

TEST_F(EngineSessionTest, ARaceIsUnsafe) {
  const auto outcome =
      outcome_of(program(body("  sum = part[0] + 0 * part[31 - lane % 32];\n"
                              "  if (thread_index_in_threadgroup >= 32) part[lane] = 1;\n",
                              kRight),
                         "64"));
  const auto& unsafe = as<kernel::Unsafe>(outcome);
  ASSERT_FALSE(unsafe.findings.empty());
  EXPECT_NE(unsafe.findings[0].message.find("row.metal:"), std::string::npos);
}

TEST_F(EngineSessionTest, AnAccessOutOfBoundsIsUnsafe) {
  const auto outcome =
      outcome_of(program(body("  sum += 0 * float(x[(row + 1) * cols * 100]);\n", kRight)));
  EXPECT_EQ(as<kernel::Unsafe>(outcome).findings.at(0).kind, "out_of_bounds");
}

TEST_F(EngineSessionTest, WhatDoesNotCompileSaysItsLine) {
  const auto outcome = outcome_of(program("  out[0] = undeclared;\n"));
  EXPECT_NE(as<kernel::CompileFailed>(outcome).log.find("undeclared"), std::string::npos);
}

TEST_F(EngineSessionTest, ASecondCopyIsADuplicate) {
  outcome_of(program(body("  // once\n", kRight + " * 1.0f")));
  as<kernel::Duplicate>(outcome_of(program(body("  // twice\n", kRight + " * 1.0f"))));
}

TEST_F(EngineSessionTest, AProgramForTheCpuIsUnsupported) {
  const auto& naive = session_->task().naive;
  ASSERT_TRUE(naive.contains(kernel::Dialect::cpp));
  as<kernel::Unsupported>(outcome_of(naive.at(kernel::Dialect::cpp)));
}

TEST_F(EngineSessionTest, CertifiesARightProgramAndSaysThatTimesAreModelled) {
  const kernel::Program right = program(body("  // certified\n", kRight + " * 2 / 2"));
  const kernel::Outcome outcome = outcome_of(right);
  as<kernel::Modelled>(outcome);
  const auto certificate = session_->certify(right, outcome.select, nullptr);
  ASSERT_TRUE(certificate) << certificate.error().text();
  EXPECT_TRUE(certificate->passed) << certificate->summary();
  std::map<std::string, std::string> said;
  for (const CertificateCheck& check : certificate->checks) said[check.name] = check.finding;
  EXPECT_EQ(said.size(), 7u);
  EXPECT_TRUE(said.contains("schedules") && said.contains("watched") && said.contains("held_out") &&
              said.contains("feedback_whole") && said.contains("trivial_answers"));
  EXPECT_NE(said["ghost_replay"].find("with empty kernels it fails on"), std::string::npos);
  EXPECT_NE(said["empty_floor"].find("% of the modelled time (on "), std::string::npos);
  EXPECT_EQ(certificate->heldout.size(), 1u);
  EXPECT_NE(certificate->basis.value("times", "").find("nothing was measured"), std::string::npos);
}

TEST_F(EngineSessionTest, DoesNotCertifyWhatGoesWrongUnseenAboveTinySizes) {
  const kernel::Program wrong =
      program(body("  if (cols == 256 && row == 0) out[2049] = T(0);\n", kRight + " * 3 / 3"));
  const kernel::Outcome outcome = outcome_of(wrong);
  as<kernel::Modelled>(outcome);  // what is compared is right: eight rows, and one write behind
  const auto certificate = session_->certify(wrong, outcome.select, nullptr);
  ASSERT_TRUE(certificate) << certificate.error().text();
  EXPECT_FALSE(certificate->passed);
  EXPECT_NE(certificate->summary().find("watched"), std::string::npos);
}

TEST_F(EngineSessionTest, DoesNotCertifyWhatIsRightOnFeedbackShapesOnly) {
  // 100 columns are of the held-out shape alone.
  const kernel::Program wrong = program(body("", kRight + " * (cols == 100 ? 1.5f : 1.0f)"));
  const kernel::Outcome outcome = outcome_of(wrong);
  as<kernel::Modelled>(outcome);
  const auto certificate = session_->certify(wrong, outcome.select, nullptr);
  ASSERT_TRUE(certificate) << certificate.error().text();
  EXPECT_FALSE(certificate->passed);
  EXPECT_NE(certificate->summary().find("held_out"), std::string::npos);
}

}  // namespace
}  // namespace ksearch::evaluate
