// Groups on several OS threads: outputs and reports are those of one.
#include "kernel_test.h"

namespace ksearch::simt {
namespace {

class Jobs : public KernelTest {
 protected:
  /// The report on one thread and on three: the same.
  Report same(const Case& all, const std::string& schedule = "default") {
    CheckOptions options;
    options.schedule = *parse_schedule(schedule);
    options.jobs = 1;
    const Report one = run(all, options);
    options.jobs = 3;
    const Report three = run(all, options);
    EXPECT_EQ(to_json(one)["findings"], to_json(three)["findings"]);
    EXPECT_EQ(one.trace, three.trace);
    EXPECT_EQ(one.outputs, three.outputs);
    return three;
  }
};

TEST_F(Jobs, IndependentGroupsGiveTheSameReport) {
  const Case all = make(
      "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
      "  uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float part[64];\n  part[t] = x[i];\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  y[i] = part[63 - t] + simd_sum(x[i]);\n}\n",
      64, 64, {"x=f32:4096:iota", "y=f32:4096"});
  for (const char* schedule : {"default", "reversed", "random:5"}) {
    const Report report = same(all, schedule);
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(values<float>(report, "y")[0], 63 + 31 * 32 / 2);
    EXPECT_EQ(report.trace["groups"], 64);
  }
}

TEST_F(Jobs, FindingsInsideGroupsAreTheSame) {
  // Groups 5 and up race in threadgroup memory; group 40 reads past the end.
  const Report report = same(
      make("kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
           "  uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],\n"
           "  uint g [[threadgroup_position_in_grid]]) {\n"
           "  threadgroup float part[64];\n  part[t] = x[g == 40 ? i + 4096 : i];\n"
           "  if (g < 5) threadgroup_barrier(mem_flags::mem_threadgroup);\n"
           "  y[i] = part[63 - t];\n}\n",
           64, 64, {"x=f32:4096:iota", "y=f32:4096"}));
  ASSERT_GE(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].kind, "data_race");
  EXPECT_EQ(report.findings[0].group[0], 5u);
}

TEST_F(Jobs, RacesBetweenGroupsAreFound) {
  const Report report = same(
      make("kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
           "  y[i / 2] = float(i);\n}\n",
           64, 33, {"y=f32:1056"}));
  const auto found = kinds(report);
  EXPECT_TRUE(std::find(found.begin(), found.end(), "data_race") != found.end());
}

TEST_F(Jobs, AtomicsKeepTheirOrder) {
  // Each group takes a ticket: which one depends on the order.
  const Report report =
      same(make("kernel void k(device atomic_uint* n [[buffer(0)]], device uint* y [[buffer(1)]],\n"
                "  uint g [[threadgroup_position_in_grid]]) {\n"
                "  y[g] = atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);\n}\n",
                32, 1, {"n=u32:1:const:7", "y=u32:32"}));
  EXPECT_TRUE(report.clean());
}

TEST_F(Jobs, ALaterLaunchSeesWhatEarlierOnesWrote) {
  Case all = make(
      "kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  y[i] = float(i);\n}\n"
      "kernel void next(device float* y [[buffer(0)]], device float* z [[buffer(1)]],\n"
      "  uint i [[thread_position_in_grid]]) {\n  z[i] = y[2047 - i];\n}\n",
      64, 32, {"y=f32:2048", "z=f32:2048"});
  Launch second = all.launches[0];
  second.kernel = "next";
  all.launches.push_back(second);
  const Report report = same(all);
  EXPECT_TRUE(report.clean()) << kinds(report)[0];
  EXPECT_EQ(values<float>(report, "z")[1], 2046);
}

TEST_F(Jobs, UntracedOutputsAreThoseOfATracedRun) {
  const Case all = make(
      "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
      "  uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float part[64];\n  part[t] = exp(x[i]);\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  y[i] = part[63 - t] * simd_sum(x[i]);\n  if (t == 0) return;\n  y[i] += 1;\n}\n",
      16, 64, {"x=f32:1024:uniform", "y=f32:1024"});
  const Report traced = run(all);
  CheckOptions options;
  options.watch = false;
  for (const std::size_t jobs : {1, 3}) {
    options.jobs = jobs;
    const Report plain = run(all, options);
    EXPECT_TRUE(plain.clean());
    EXPECT_EQ(plain.outputs, traced.outputs);
  }
}

}  // namespace
}  // namespace ksearch::simt
