// Small copies of the project's tasks and a real CPU session on each, for tests of the whole way
// from a source to an outcome.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "evaluate/cpu_session.h"

namespace ksearch::evaluate::testing {

namespace fs = std::filesystem;

inline fs::path project_tasks() { return fs::path(KSEARCH_SOURCE_DIR) / "tasks"; }

/// Workloads that a plain kernel with one float32 calling convention can serve.
inline const std::map<std::string, std::string>& small_workloads() {
  static const std::map<std::string, std::string> all{
      {"softmax",
       R"({"name": "t1x7", "role": "tiny", "axes": {"rows": 1, "cols": 7}, "types": {"T": "float32"}}
{"name": "t7x33", "role": "tiny", "axes": {"rows": 7, "cols": 33}, "types": {"T": "float32"}}
{"name": "f64x1000", "role": "feedback", "axes": {"rows": 64, "cols": 1000}, "types": {"T": "float32"}}
{"name": "f256x2048", "role": "feedback", "axes": {"rows": 256, "cols": 2048}, "types": {"T": "float32"}}
{"name": "h100x333", "role": "heldout", "axes": {"rows": 100, "cols": 333}, "types": {"T": "float32"}}
)"},
      {"matmul",
       R"({"name": "t7x5x3", "role": "tiny", "axes": {"M": 7, "N": 5, "K": 3}, "types": {"T": "float32"}}
{"name": "t33x17x9", "role": "tiny", "axes": {"M": 33, "N": 17, "K": 9}, "types": {"T": "float32"}}
{"name": "f192x160x128", "role": "feedback", "axes": {"M": 192, "N": 160, "K": 128}, "types": {"T": "float32"}}
{"name": "h65x70x75", "role": "heldout", "axes": {"M": 65, "N": 70, "K": 75}, "types": {"T": "float32"}}
)"},
      {"attention",
       R"({"name": "t7", "role": "tiny", "axes": {"B": 1, "H": 1, "Hkv": 1, "Lq": 7, "Lk": 7, "D": 7}, "types": {"T": "float32"}, "params": {"causal": false, "scale": 0.37}}
{"name": "t33", "role": "tiny", "axes": {"B": 2, "H": 2, "Hkv": 2, "Lq": 33, "Lk": 33, "D": 16}, "types": {"T": "float32"}, "params": {"causal": false, "scale": 0.25}}
{"name": "f256", "role": "feedback", "axes": {"B": 1, "H": 2, "Hkv": 2, "Lq": 256, "Lk": 256, "D": 64}, "types": {"T": "float32"}, "params": {"causal": false, "scale": 0.125}}
{"name": "h130", "role": "heldout", "axes": {"B": 1, "H": 2, "Hkv": 2, "Lq": 130, "Lk": 130, "D": 32}, "types": {"T": "float32"}, "params": {"causal": false, "scale": 0.177}}
)"}};
  return all;
}

/// The launch that hands a source of the adversaries' convention its arguments.
inline std::string one_call(const std::string& task) {
  if (task == "softmax")
    return "\nextern \"C\" void entry(const float* x, float* out, int64_t rows, int64_t cols, "
           "const ks_group*) {\n"
           "  kernel(x, out, rows, cols);\n}\n";
  if (task == "matmul")
    return "\nextern \"C\" void entry(const float* a, const float* b, float* out, int64_t M, "
           "int64_t N, int64_t K, "
           "const ks_group*) {\n  kernel(a, b, out, M, N, K);\n}\n";
  return "\nextern \"C\" void entry(const float* q, const float* k, const float* v, float* out, "
         "float scale, int64_t B, "
         "int64_t H, int64_t L, int64_t D, const ks_group*) {\n  kernel(q, k, v, out, scale, B, H, "
         "L, D);\n}\n";
}

inline base::Json launch_of(const std::string& task) {
  base::Json args;
  if (task == "softmax")
    args = {"x", "out", {{"i64", "rows"}}, {{"i64", "cols"}}};
  else if (task == "matmul")
    args = {"a", "b", "out", {{"i64", "M"}}, {{"i64", "N"}}, {{"i64", "K"}}};
  else
    args = {"q",
            "k",
            "v",
            "out",
            {{"f32", "scale"}},
            {{"i64", "B"}},
            {{"i64", "H"}},
            {{"i64", "Lq"}},
            {{"i64", "D"}}};
  return {{"kernel", "entry"}, {"groups", {1}}, {"args", args}};
}

/// One session a task, shared by the tests of a program: opening one measures baselines.
class CpuLab {
 public:
  explicit CpuLab(bool static_check = true) : static_check_(static_check) {}
  ~CpuLab() {
    sessions_.clear();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  CpuSession& session(const std::string& task) {
    auto& session = sessions_[task];
    if (session) return *session;
    const fs::path folder = folder_ / task;
    fs::create_directories(folder);
    for (const char* part : {"definition.json", "reference.cpp", "naive"})
      fs::copy(project_tasks() / task / part, folder / part, fs::copy_options::recursive);
    std::ofstream(folder / "workloads.jsonl") << small_workloads().at(task);
    CpuSessionOptions o;
    o.task = folder;
    o.threads = 1;
    o.timing = std::chrono::milliseconds(600);
    o.worker = {KSEARCH_CPU_WORKER};
    o.cache = folder_ / "cache";
    o.environment = os::current_environment();
    o.memory_limit_bytes = std::uint64_t{512} << 20;
    o.measure = false;
    o.static_check = static_check_;
    auto opened = CpuSession::open(o, [](std::string_view) {});
    EXPECT_TRUE(opened) << opened.error().text();
    if (!opened) std::abort();
    session = std::move(*opened);
    return *session;
  }

  kernel::Program program(const std::string& task, const std::string& source) {
    const base::Json json{
        {"format", "ksearch.program/1"},
        {"task", task},
        {"dialect", "cpp"},
        {"sources", base::Json::array({{{"path", "cand.cpp"}, {"text", source}}})},
        {"launches", base::Json::array({launch_of(task)})}};
    auto parsed = kernel::parse_program(json, session(task).task().definition, "cand", {});
    EXPECT_TRUE(parsed) << parsed.error().text();
    return *parsed;
  }

  kernel::Outcome judge(const std::string& task, const std::string& source,
                        std::optional<kernel::Program> parent = {}) {
    EvaluateRequest request{program(task, source), std::move(parent), {}, {}};
    auto reply = session(task).evaluate(request, [](std::string_view) {});
    if (const auto* lost = std::get_if<kernel::Lost>(&reply)) {
      ADD_FAILURE() << "lost: " << lost->reason;
      return {};
    }
    return std::get<kernel::Outcome>(std::move(reply));
  }

 private:
  bool static_check_;
  fs::path folder_ = fs::path(::testing::TempDir()) /
                     ("ksearch_lab_" + std::to_string(::getpid()) + (static_check_ ? "" : "_open"));
  std::map<std::string, std::unique_ptr<CpuSession>> sessions_;
};

/// An honest kernel, made new each time so that it is no duplicate.
inline std::string honest_softmax(int number) {
  return R"(#include <cmath>
static void kernel(const float* x, float* out, long rows, long cols) {
  for (long r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* o = out + r * cols;
    float top = in[0];
    for (long c = 1; c < cols; ++c) top = in[c] > top ? in[c] : top;
    float sum = 0.0f;
    for (long c = 0; c < cols; ++c) sum += o[c] = std::exp(in[c] - top);
    for (long c = 0; c < cols; ++c) o[c] /= sum;
  }
}
static const int number = )" +
         std::to_string(number) + ";\nint ask() { return number; }\n" + one_call("softmax");
}

}  // namespace ksearch::evaluate::testing
