// Exports are compiled by the plain compiler and called by programs that know nothing of ksearch
// (callers/*.cpp), which compare with plain loops.
#include "formats/export_cpp.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "os/process.h"

namespace ksearch::formats {
namespace {

namespace fs = std::filesystem;
using kernel::DType;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

kernel::Definition definition_at(const fs::path& path) {
  const auto json = base::parse_json(read(path), path.string());
  EXPECT_TRUE(json) << path;
  auto definition = kernel::parse_definition(*json, path.string());
  EXPECT_TRUE(definition) << definition.error().text();
  return *definition;
}

kernel::HardwareProfile some_device() {
  kernel::HardwareProfile device;
  device.name = "test";
  device.kind = "cpu";
  device.cores = 2;
  device.simd_width = 8;
  device.l1_bytes = 32768;
  device.l2_bytes = 1 << 20;
  return device;
}

/// Compiles NAME.cpp and a caller with warnings as errors, runs it; returns what it printed.
std::string compile_and_call(const CppExport& exported, const fs::path& caller) {
  auto folder = os::TempFolder::create("ksearch-export-");
  EXPECT_TRUE(folder);
  std::ofstream(folder->path() / (exported.name + ".h")) << exported.header;
  std::ofstream(folder->path() / (exported.name + ".cpp")) << exported.source;
  const fs::path program = folder->path() / "caller";
  os::Command compile;
  compile.argv = {"/usr/bin/env",
                  "g++",
                  "-std=c++20",
                  "-Wall",
                  "-Wextra",
                  "-Werror",
                  "-O1",
                  "-pthread",
                  "-march=native",
                  "-I" + folder->path().string(),
                  caller.string(),
                  (folder->path() / (exported.name + ".cpp")).string(),
                  "-o",
                  program.string()};
  compile.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  const auto compiled = os::run(compile, std::chrono::minutes(2));
  if (!compiled) return compiled.error().text();
  if (compiled->status.code != 0) return "does not compile:\n" + compiled->output + exported.source;
  os::Command call;
  call.argv = {program.string()};
  const auto called = os::run(call, std::chrono::minutes(1));
  return called ? called->output : called.error().text();
}

const fs::path kHere = fs::path(KSEARCH_SOURCE_DIR) / "tests/unit/formats";
const fs::path kTasks = fs::path(KSEARCH_SOURCE_DIR) / "tasks";

kernel::Workload workload(std::map<std::string, std::int64_t> axes, DType type) {
  kernel::Workload w;
  w.name = "w";
  w.axes = std::move(axes);
  w.types = {{"T", type}};
  return w;
}

TEST(ExportCpp, SoftmaxCompilesAndAgreesWithAPlainLoop) {
  const auto definition = definition_at(kTasks / "softmax/definition.json");
  const auto program = kernel::load_program(kTasks / "softmax/naive/cpp/program.json", definition);
  ASSERT_TRUE(program) << program.error().text();
  CppExportRequest request;
  request.program = &*program;
  request.definition = &definition;
  request.device = some_device();
  request.workloads = {workload({{"rows", 4}, {"cols", 8}}, DType::float32)};
  request.credit = {"found by a test"};
  const auto exported = export_cpp(request);
  ASSERT_TRUE(exported) << exported.error().text();
  EXPECT_EQ(exported->functions, std::vector<std::string>{"softmax_f32"});
  EXPECT_NE(exported->header.find("found by a test"), std::string::npos);
  EXPECT_EQ(compile_and_call(*exported, kHere / "callers/softmax.cpp"), "ok\n");
}

// Everything a plan can say in this dialect: two launches, a loop, scratch with and without init,
// group memory, tunables with a select, sizes as macros, an optional tensor, two element types.
TEST(ExportCpp, EveryPartOfAPlanBecomesCode) {
  const auto definition = definition_at(kHere / "mixture/definition.json");
  auto program = kernel::load_program(kHere / "mixture/program.json", definition);
  ASSERT_TRUE(program) << program.error().text();
  const auto select =
      kernel::parse_select(*base::parse_json(R"([{"when": "rows > 8", "tunables": {"CHUNK": 16}},
                            {"tunables": {"CHUNK": 8}}])",
                                             "select"),
                           "select");
  ASSERT_TRUE(select) << select.error().text();
  program->select = *select;
  CppExportRequest request;
  request.program = &*program;
  request.definition = &definition;
  request.device = some_device();
  request.name = "mixed";
  for (const DType type : {DType::float32, DType::bfloat16, DType::float16})
    for (const std::int64_t rows : {4, 9})
      for (const std::int64_t cols : {33, 40}) {
        auto w = workload({{"rows", rows}, {"cols", cols}}, type);
        for (const bool square : {true, false}) {
          w.params = {{"factor", 1.5}, {"square", square}};
          request.workloads.push_back(w);
        }
      }
  const auto exported = export_cpp(request);
  ASSERT_TRUE(exported) << exported.error().text();
  EXPECT_EQ(exported->functions,
            (std::vector<std::string>{"mixed_f32", "mixed_bf16", "mixed_f16"}));
  EXPECT_EQ(compile_and_call(*exported, kHere / "callers/mixed.cpp"), "ok\n");
}

// Axes, tensors, parameters, tunables, scratch and loops with the names of C++, of the code around
// and of each other.
constexpr const char* kClash = R"json({
  "name": "clash", "op_type": "clash", "description": "Names that clash.",
  "axes": {"p": {"type": "var"}, "x": {"type": "var"}, "errno": {"type": "var"}},
  "types": {"T": ["float32"]}, "params": {"Plan": "float32", "has_own_": "bool"},
  "inputs": {"x": {"shape": ["p", "x"], "dtype": "T"},
             "own_": {"shape": ["x"], "dtype": "T", "optional": true}},
  "outputs": {"int64_t": {"shape": ["p", "x"], "dtype": "T"}},
  "generate": [{"kind": "normal", "tensors": ["x", "own_"], "mean": 0.0, "std": 1.0}],
  "flops": "p * x", "bytes": "p", "reference": ""})json";
constexpr const char* kClashProgram = R"json({
  "format": "ksearch.program/1", "task": "clash", "dialect": "cpp",
  "sources": [{"path": "clash.cpp"}], "tunables": {"xor": [1]}, "let": {"worker": "x * xor"},
  "scratch": {"team_": {"dtype": "float32", "shape": ["worker"]}},
  "launches": [
    {"kernel": "copy", "for": {"worker_": [0, "p"]}, "groups": ["errno"],
     "args": ["x", {"optional": "own_"}, {"write": "team_"}, "int64_t", {"i64": "worker_"},
              {"i64": "worker"}, {"f32": "Plan"}, {"bool": "has_own_"}]}]})json";
constexpr const char* kClashSource = R"cpp(
  extern "C" void copy(const float* x, const float* add, float* row, float* out, int64_t at,
                       int64_t n, float factor, bool on, const ks_group*) {
    for (int64_t i = 0; i < n; ++i) row[i] = x[at * n + i] * factor + (add && on ? add[i] : 0.0f);
    for (int64_t i = 0; i < n; ++i) out[at * n + i] = row[i];
  })cpp";
constexpr const char* kClashCaller = R"cpp(
#include <cstdio>
#include "clash.h"
  int main() {
    const float x[4] = {1, 2, 3, 4}, add[2] = {10, 20};
    float out[4] = {};
    const int status = clash_f32(x, add, out, 2, 2, 1, 0.5f, true, 1, nullptr);
    std::printf("%d %g %g %g %g\n", status, out[0], out[1], out[2], out[3]);
  })cpp";

TEST(ExportCpp, NamesThatClashWithAnythingBecomeOthers) {
  const auto definition =
      kernel::parse_definition(*base::parse_json(kClash, "definition"), "definition");
  ASSERT_TRUE(definition) << definition.error().text();
  const auto program =
      kernel::parse_program(*base::parse_json(kClashProgram, "program"), *definition, "program",
                            [](std::string_view) { return std::string(kClashSource); });
  ASSERT_TRUE(program) << program.error().text();
  CppExportRequest request;
  request.program = &*program;
  request.definition = &*definition;
  request.device = some_device();
  request.workloads = {workload({{"p", 2}, {"x", 2}, {"errno", 1}}, DType::float32)};
  request.workloads[0].params = {{"Plan", 0.5}, {"has_own_", true}};
  const auto exported = export_cpp(request);
  ASSERT_TRUE(exported) << exported.error().text();
  auto folder = os::TempFolder::create("ksearch-clash-");
  ASSERT_TRUE(folder);
  std::ofstream(folder->path() / "caller.cpp") << kClashCaller;
  EXPECT_EQ(compile_and_call(*exported, folder->path() / "caller.cpp"), "0 10.5 21 11.5 22\n");
}

TEST(ExportCpp, RefusesNamesThatNoFunctionOrFileCanHave) {
  const auto definition = definition_at(kTasks / "softmax/definition.json");
  const auto program = kernel::load_program(kTasks / "softmax/naive/cpp/program.json", definition);
  ASSERT_TRUE(program) << program.error().text();
  CppExportRequest request;
  request.program = &*program;
  request.definition = &definition;
  request.device = some_device();
  request.workloads = {workload({{"rows", 4}, {"cols", 8}}, DType::float32)};
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"double", "is a word of C++"},
           {"EOF", "is, or may be, a macro of the system's headers"},
           {"_x", "names with _ in front are the system's in C++"},
           {"math", "is a header of the system's, which the file would hide"},
           {"std", "is a name of the file's own"}}) {
    request.name = name;
    const auto exported = export_cpp(request);
    ASSERT_FALSE(exported) << name;
    EXPECT_EQ(exported.error().text(), name + ": " + why + " (give another with --name)");
  }
}

TEST(ExportCpp, OtherDialectsAreRefused) {
  const auto definition = definition_at(kTasks / "softmax/definition.json");
  kernel::Program program;
  program.task = "softmax";
  program.dialect = kernel::Dialect::mlx;
  CppExportRequest request;
  request.program = &program;
  request.definition = &definition;
  const auto exported = export_cpp(request);
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().what, "the program is of dialect mlx");
}

}  // namespace
}  // namespace ksearch::formats
