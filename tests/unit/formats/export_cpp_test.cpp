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
