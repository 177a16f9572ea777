// ksearch check as a person uses it: a racy kernel, its repair, a body, a case, mistakes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "os/process.h"

namespace ksearch {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kSum = R"(#include <metal_stdlib>
#include "scale.h"
using namespace metal;

kernel void sum(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                uint g [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                uint i [[thread_position_in_grid]]) {
  threadgroup float part[256];
  part[t] = scale(in[i]);
  for (uint n = 128; n > 0; n /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < n) part[t] += part[t + n];
  }
  if (t == 0) out[g] = part[0];
}
)";

class Check : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/clang++-19") && !fs::exists("/usr/bin/clang++-18") &&
        !fs::exists("/usr/bin/clang++-17"))
      GTEST_SKIP() << "no clang from 17 on";
    auto folder = os::TempFolder::create("ksearch-check-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    write("scale.h", "inline float scale(float x) { return 2.0f * x; }\n");
    write("sum.metal", kSum);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_->path() / name) << text;
  }
  struct Ran {
    int code = -1;
    std::string output;
  };
  Ran run(std::vector<std::string> arguments, const os::Environment& more = {}) const {
    os::Command command;
    command.argv = {KSEARCH_PROGRAM, "check"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = os::current_environment();
    command.environment["NO_COLOR"] = "1";
    for (const auto& [name, value] : more) command.environment[name] = value;
    command.folder = folder_->path();
    const auto finished = os::run(command, 60s);
    EXPECT_TRUE(finished) << finished.error().text();
    return finished ? Ran{finished->status.code, finished->output} : Ran{};
  }
  std::vector<std::string> sum() const {
    return {"sum.metal", "--kernel", "sum",      "--group-size",          "256",
            "--groups",  "4",        "--buffer", "in=f32:1024:const:1.5", "--buffer",
            "out=f32:4"};
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }
  std::optional<os::TempFolder> folder_;
};

TEST_F(Check, ARightKernelIsCleanAndItsOutputIsThere) {
  auto arguments = sum();
  arguments.insert(arguments.end(), {"--dump", "out"});
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(has(ran.output, "clean"));
  std::ifstream file(folder_->path() / "out" / "out.bin", std::ios::binary);
  float values[4] = {};
  file.read(reinterpret_cast<char*>(values), sizeof(values));
  for (const float value : values) EXPECT_EQ(value, 768);
}

TEST_F(Check, ARacyOneIsShownWithItsLines) {
  std::string racy = kSum;
  racy.replace(racy.find("mem_flags::mem_threadgroup"), 26, "mem_flags::mem_none");
  write("sum.metal", racy);
  const Ran ran = run(sum());
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(has(ran.output, "data_race  part"));
  EXPECT_TRUE(has(ran.output, "sum.metal:9:   part[t] = scale(in[i]);"));
  EXPECT_TRUE(has(ran.output, "sum.metal:12:     if (t < n) part[t] += part[t + n];"));
  EXPECT_TRUE(has(ran.output, "warning  sum.metal:11: this barrier orders no memory"));
}

TEST_F(Check, WhatIsNotWatchedIsNotCalledClean) {
  std::string racy = kSum;
  racy.replace(racy.find("mem_flags::mem_threadgroup"), 26, "mem_flags::mem_none");
  write("sum.metal", racy);
  auto arguments = sum();
  arguments.push_back("--no-trace");
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(has(ran.output, "nothing found\nlooked at      barriers, ")) << ran.output;
  EXPECT_TRUE(has(ran.output, "\nnot looked at  bounds, races, ")) << ran.output;
  EXPECT_FALSE(has(ran.output, "clean")) << ran.output;
  arguments.push_back("--json");
  const auto json = base::parse_json(run(arguments).output, "output");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("watched"), false);
}

/// So that nothing is left there, whenever and however a check is ended.
TEST_F(Check, NeedsNoTemporaryFolder) {
  const Ran ran = run(sum(), {{"TMPDIR", (folder_->path() / "scale.h").string()}});
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST_F(Check, JsonIsOneObject) {
  auto arguments = sum();
  arguments.push_back("--json");
  const Ran ran = run(arguments);
  const auto json = base::parse_json(ran.output, "output");
  ASSERT_TRUE(json) << ran.output;
  EXPECT_EQ(json->at("verdict"), "clean");
  EXPECT_EQ(json->at("watched"), true);
  EXPECT_EQ(json->at("trace").at("buffers")[0].at("bytes_read"), 4096);
  EXPECT_EQ(json->at("trace").at("operations").at("float.add").at("threads"), 4 * 255);
  EXPECT_EQ(json->at("trace").at("sample").at("of"), 4);
}

TEST_F(Check, WhatTheKernelDoesIsThere) {
  const Ran ran = run(sum());
  EXPECT_TRUE(has(ran.output, "lines a load")) << ran.output;
  EXPECT_TRUE(has(ran.output, "operations          float: add 1020, mul 1024\n")) << ran.output;
  EXPECT_TRUE(has(ran.output, "threads a group")) << ran.output;
  EXPECT_FALSE(has(ran.output, "a sample "));
  std::istringstream lines(ran.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  auto arguments = sum();
  arguments.insert(arguments.end(), {"--trace-groups", "2"});
  EXPECT_TRUE(has(run(arguments).output, "2 of 4 groups, a sample spread evenly"));
  arguments.back() = "0";
  const Ran without = run(arguments);
  EXPECT_EQ(without.code, 0);
  EXPECT_FALSE(has(without.output, "operations          float:"));
  arguments.back() = "few";
  EXPECT_EQ(run(arguments).code, 2);
}

TEST_F(Check, ABodyIsRunByMlxsRules) {
  write("body.metal", "uint i = thread_position_in_grid.x;\ny[i] = static_cast<T>(a[i]);\n");
  const Ran ran =
      run({"body.metal", "--body", "--threads", "16", "--group-size", "256", "--template",
           "T=float16", "--buffer", "a=f32:4096:normal", "--buffer", "y=f16:4096"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(has(ran.output, "uncovered_output  y + 32\n  body.metal:2:"));
}

TEST_F(Check, ACaseDescribesTheWholeLaunch) {
  write("kernel.metal", kSum);
  write("case.json", R"({"launches": [{"kernel": "sum", "groups": [2], "group_size": [256]}],
    "buffers": [{"name": "in", "dtype": "float32", "shape": [512], "role": "in",
                 "init": {"kind": "iota"}},
                {"name": "out", "dtype": "float32", "shape": [2], "role": "out"}],
    "expect": {"verdict": "clean"}})");
  for (const char* schedule : {"default", "reversed", "random:3"})
    EXPECT_EQ(run({"case.json", "--schedule", schedule}).code, 0) << schedule;
  EXPECT_EQ(run({"case.json", "--schedule", "default,reversed", "--time", "60"}).code, 0);
  EXPECT_EQ(run({"case.json", "--schedule", "default,sideways"}).code, 2);
}

TEST_F(Check, SaysWhereTheOrderOfGroupsShows) {
  write("count.metal", R"(#include <metal_stdlib>
using namespace metal;
kernel void last(device atomic_uint* out [[buffer(0)]], uint s [[simdgroup_index_in_threadgroup]]) {
  atomic_store_explicit(&out[0], s, memory_order_relaxed);
}
)");
  const Ran ran = run({"count.metal", "--kernel", "last", "--group-size", "128", "--buffer",
                       "out=u32:1", "--schedule", "default,reversed"});
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(has(ran.output, "1 of 1 elements of out differ under schedule reversed"))
      << ran.output;
}

TEST_F(Check, ACudaFileWithItsHostProgram) {
  write("row_sum.cu", R"(#include <vector>
template <int kThreads>
__global__ void row_sum(const float* in, float* out, int columns) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = threadIdx.x < columns ? in[blockIdx.x * columns + threadIdx.x] : 0.0f;
  __syncthreads();
  for (int n = kThreads / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
int main() { std::vector<float> host; row_sum<64><<<4, 64>>>(nullptr, nullptr, 50); }
)");
  std::vector<std::string> arguments = {"row_sum.cu",
                                        "--kernel",
                                        "row_sum<64>",
                                        "--group-size",
                                        "64",
                                        "--groups",
                                        "4",
                                        "--buffer",
                                        "in=f32:4x50:const:0.5",
                                        "--buffer",
                                        "out=f32:4",
                                        "--param",
                                        "columns=50",
                                        "--dump",
                                        "out"};
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.code, 0) << ran.output;
  std::ifstream file(folder_->path() / "out" / "out.bin", std::ios::binary);
  float values[4] = {};
  file.read(reinterpret_cast<char*>(values), sizeof(values));
  for (const float value : values) EXPECT_EQ(value, 25);
  arguments[12] = "columns=51";
  const Ran outside = run(arguments);
  EXPECT_EQ(outside.code, 1) << outside.output;
  EXPECT_TRUE(has(outside.output, "out_of_bounds  in + 800\n  row_sum.cu:5:")) << outside.output;
  arguments.resize(11);
  EXPECT_TRUE(has(run(arguments).output,
                  "it takes 2 pointers and 1 values; 2 buffers and 0 values are given"));
}

TEST_F(Check, MistakesSayWhereAndWhat) {
  EXPECT_EQ(run({"nothing.metal", "--kernel", "k"}).code, 2);
  write("case.json", "{}");
  EXPECT_TRUE(has(run({"case.json", "--group-size", "64"}).output, "--group-size: a case file"));
  EXPECT_EQ(run({"sum.metal"}).code, 2);
  auto other = sum();
  other[2] = "total";
  EXPECT_TRUE(
      has(run(other).output, "kernel total: the source has none of this name\n  it has sum"));
  std::string broken = kSum;
  broken.replace(broken.find("part[0]"), 7, "whole");
  write("sum.metal", broken);
  const Ran ran = run(sum());
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.output, "sum.metal:14")) << ran.output;
}

TEST_F(Check, AProgramIsBoundToAWorkloadOfItsTask) {
  write("rows.metal", R"(#include <metal_stdlib>
using namespace metal;
struct Params { int cols; float scale; };
template <typename T>
kernel void rows(device const T* x, device T* out, constant Params& p,
                 uint g [[threadgroup_position_in_grid]], uint t [[thread_index_in_simdgroup]]) {
  float high = -INFINITY, total = 0;
  for (int k = t; k < p.cols; k += 32) high = max(high, float(x[g * p.cols + k]));
  high = simd_max(high);
  for (int k = t; k < p.cols; k += 32) total += exp(x[g * p.cols + k] - high);
  total = simd_sum(total);
  for (int k = t; k < p.cols; k += 32)
    out[g * p.cols + k] = T(p.scale * exp(x[g * p.cols + k] - high) / total);
}
)");
  const std::string plan = R"({"format": "ksearch.program/1", "task": "softmax", "dialect": "metal",
    "sources": [{"path": "rows.metal"}],
    "launches": [{"kernel": "rows", "instantiate": [["T", "T"]], "groups": ["GROUPS"],
                  "group_size": [32, 1, 1],
                  "args": ["x", "out", {"struct": [{"i32": "cols"}, {"f32": "1"}]}]}]})";
  const auto program = [&](const std::string& groups) {
    std::string text = plan;
    text.replace(text.find("GROUPS"), 6, groups);
    write("program.json", text);
    return run({".", "--workload", "f32_7x33"});
  };
  const Ran right = program("rows");
  EXPECT_EQ(right.code, 0) << right.output;
  const Ran few = program("1");
  EXPECT_EQ(few.code, 1) << few.output;
  EXPECT_TRUE(has(few.output, "uncovered_output  out")) << few.output;
  const Ran unknown = run({"program.json", "--workload", "none"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.output, "task softmax has none named \"none\"")) << unknown.output;
}

TEST_F(Check, AStructIsABuffer) {
  write("p.metal",
        "struct P { int n; float a; };\n"
        "kernel void k(constant P& p [[buffer(0)]], device float* y [[buffer(1)]]) {\n"
        "  for (int i = 0; i < p.n; ++i) y[i] = p.a;\n}\n");
  const Ran ran = run(
      {"p.metal", "--kernel", "k", "--buffer", "p=struct:i32:4:f32:0.5", "--buffer", "y=f32:4"});
  EXPECT_EQ(ran.code, 0) << ran.output;
}

}  // namespace
}  // namespace ksearch
