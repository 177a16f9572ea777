// Terms of the Apple GPU time model against arithmetic on paper, for the M1 Max: 32 cores, 1.296
// GHz, 4 schedulers a core, 409.6 GB/s of which 85% are reached.
#include "target/metal/time_model.h"

#include <gtest/gtest.h>

namespace ksearch::target {
namespace {
using base::Json;

class TimeModel : public ::testing::Test {
 protected:
  void SetUp() override {
    auto gpu =
        load_gpu_profile(std::string(KSEARCH_SOURCE_DIR) + "/knowledge/hardware", "apple-m1-max");
    ASSERT_TRUE(gpu) << gpu.error().text();
    gpu_ = *gpu;
  }
  /// A trace of operations alone.
  static Json trace_of(Json operations) {
    return {{"operations", std::move(operations)},
            {"chain", {{"cycles", 0}}},
            {"pipeline", {{"half_registers", 32}}},
            {"group_memory", {{"bytes", 0}}},
            {"buffers", Json::array()},
            {"sample", {{"traced", 1}, {"of", 1}}},
            {"places", Json::array()}};
  }
  ModelledLaunch model(const GpuLaunch& launch, const Json& trace) {
    auto modelled = model_launch(gpu_, launch, trace);
    EXPECT_TRUE(modelled) << modelled.error().text();
    return *modelled;
  }
  static double term(const ModelledLaunch& launch, std::string_view name) {
    for (const TimeTerm& t : launch.terms)
      if (t.name == name) return t.seconds;
    ADD_FAILURE() << name;
    return 0;
  }
  GpuProfile gpu_;
};

TEST_F(TimeModel, IssuesOneOperationACycleOnEachOfFourSchedulers) {
  // 128 SIMD-groups, four a core, a million FMAs each: a million cycles.
  const Json trace = trace_of({{"float.fma", {{"simdgroups", 128e6}}}});
  const ModelledLaunch launch = model({"k", 32, 128}, trace);
  EXPECT_NEAR(term(launch, "issue"), 1e6 / 1.296e9, 1e-12);
  EXPECT_EQ(launch.bottleneck, "issue");
  EXPECT_NEAR(launch.seconds - launch.kernel_seconds, 2.5e-6, 1e-15);
}

TEST_F(TimeModel, TheCoreWithMostGroupsDecides) {
  const double even =
      term(model({"k", 32, 128}, trace_of({{"float.fma", {{"simdgroups", 32e6}}}})), "issue");
  const double odd =
      term(model({"k", 33, 128}, trace_of({{"float.fma", {{"simdgroups", 33e6}}}})), "issue");
  EXPECT_NEAR(odd / even, 2, 1e-9);
}

TEST_F(TimeModel, OneSimdgroupUsesOneScheduler) {
  const Json trace = trace_of({{"float.fma", {{"simdgroups", 32e6}}}});
  EXPECT_NEAR(term(model({"k", 32, 32}, trace), "issue"), 1e6 / 1.296e9, 1e-12);
}

TEST_F(TimeModel, CopiesAtTheBandwidthOfTheMemory) {
  constexpr double kBytes = 1 << 28, kLines = kBytes / 128;
  Json trace = trace_of(Json::object());
  for (const char* name : {"in", "out"}) {
    const Json moved{{"requests", kLines / 4}, {"lines", kLines}, {"bytes", kBytes}};
    trace["buffers"].push_back({{"name", name},
                                {"bytes", kBytes},
                                {name == std::string("in") ? "loads" : "stores", moved},
                                {"group_lines", kLines},
                                {"distinct_lines", kLines},
                                {"reuse", Json::array()}});
  }
  const ModelledLaunch launch = model({"copy", 65536, 256}, trace);
  EXPECT_EQ(launch.bottleneck, "dram");
  EXPECT_NEAR(term(launch, "dram"), 2 * kBytes / (409.6e9 * 0.85), 1e-9);
}

TEST_F(TimeModel, SmallDataStaysInTheSystemCache) {
  // Every group reads the same 1 MiB: memory sees it once.
  constexpr double kBytes = 1 << 20, kLines = kBytes / 128, kGroups = 320;
  Json trace = trace_of(Json::object());
  trace["buffers"].push_back(
      {{"name", "in"},
       {"bytes", kBytes},
       {"loads", {{"requests", kLines}, {"lines", kGroups * kLines}, {"bytes", kGroups * kBytes}}},
       {"group_lines", kGroups * kLines},
       {"distinct_lines", kLines},
       {"reuse", Json::array()}});
  const ModelledLaunch launch = model({"k", kGroups, 256}, trace);
  EXPECT_NEAR(term(launch, "dram"), kBytes / (409.6e9 * 0.85), 1e-9);
  EXPECT_GT(term(launch, "l2"), term(launch, "dram"));
}

TEST_F(TimeModel, GroupMemoryLimitsWhatIsResident) {
  Json trace = trace_of({{"float.fma", {{"simdgroups", 1e6}}}});
  trace["group_memory"]["bytes"] = 20000;  // three of them in 60 KB
  const ModelledLaunch launch = model({"k", 3200, 128}, trace);
  EXPECT_EQ(launch.resident_simdgroups, 12);
  EXPECT_EQ(launch.occupancy_limit, "group memory");
}

TEST_F(TimeModel, RegistersLimitWhatIsResident) {
  Json trace = trace_of({{"float.fma", {{"simdgroups", 1e6}}}});
  trace["pipeline"]["half_registers"] = 208;  // 212992 bytes: 512 threads
  const ModelledLaunch launch = model({"k", 3200, 128}, trace);
  EXPECT_EQ(launch.resident_simdgroups, 16);
  EXPECT_EQ(launch.occupancy_limit, "registers");
  EXPECT_EQ(launch.next_registers, 166) << "for five groups in place of four";
  EXPECT_EQ(launch.next_simdgroups, 20);
}

TEST_F(TimeModel, RegistersBeyondThoseThereAreMoveToMemoryAndBack) {
  // 32 cores have 3 groups of 4 SIMD-groups each: 256 registers a thread.
  Json trace = trace_of({{"float.fma", {{"simdgroups", 1e6}}}});
  trace["pipeline"]["half_registers"] = 256;
  const ModelledLaunch fits = model({"k", 3200, 128}, trace);
  trace["pipeline"]["half_registers"] = 300;
  trace["spills"] = {{"loads", 9e6}, {"stores", 3e6}};
  const ModelledLaunch spilled = model({"k", 3200, 128}, trace);
  EXPECT_EQ(spilled.resident_simdgroups, 12);
  EXPECT_EQ(spilled.resident_simdgroups, fits.resident_simdgroups);
  EXPECT_EQ(spilled.spilled_bytes, 12e6 * 128);
  EXPECT_EQ(fits.spilled_bytes, 0);
  // 64 bytes a cycle and core, and a load or store issued for each.
  EXPECT_NEAR(term(spilled, "l1") - term(fits, "l1"), 12e6 * 128 / 32 / 64 / 1.296e9, 1e-9);
  EXPECT_NEAR(term(spilled, "issue") - term(fits, "issue"), 12e6 / 32 / 4 / 1.296e9, 1e-9);
  // 22 lines of each of 12 SIMD-groups are more than the first level has.
  EXPECT_NEAR(term(spilled, "l2") - term(fits, "l2"), 12e6 * 128 / 32 / 32 / 1.296e9, 1e-8);
  EXPECT_NE(describe({.launches = {spilled}}).find("1.54e+03 MB are spilled"), std::string::npos);
}

TEST_F(TimeModel, TheLastGroupToEndDecidesWhereTheyDiffer) {
  // Two groups a core, those of the second half of the grid three times as long: core 0 has one of
  // each, as all others; were they two by two, half of the cores would take 1.5 times that.
  Json trace = trace_of({{"float.fma", {{"simdgroups", 64e6}}}});
  const auto group = [](int number, double runs) {
    return Json{{"number", number}, {"operations", {{"float.fma", runs}}}};
  };
  trace["traced_groups"] = {group(0, 1e6), group(1, 1e6), group(32, 3e6)};
  GpuLaunch launch{"k", 64, 128, {32, 2, 1}};
  const ModelledLaunch by_half = model(launch, trace);
  EXPECT_NEAR(by_half.unevenness, 1, 1e-9);
  trace["traced_groups"] = {group(0, 1e6), group(1, 3e6), group(2, 1e6)};
  launch.grid = {2, 32, 1};
  const ModelledLaunch by_turns = model(launch, trace);
  EXPECT_NEAR(by_turns.unevenness, 1.5, 1e-9);
  EXPECT_NEAR(term(by_turns, "issue") / term(by_half, "issue"), 1.5, 1e-9);
  EXPECT_NE(describe({.launches = {by_turns}}).find("1.50 times"), std::string::npos);
}

TEST_F(TimeModel, ALoneSimdgroupWaitsForItsChain) {
  // 1000 dependent FMAs of 11.3 cycles; nobody else is on the core.
  Json trace = trace_of({{"float.fma", {{"simdgroups", 1000}}}});
  trace["chain"]["cycles"] = 11300;
  const ModelledLaunch launch = model({"k", 1, 32}, trace);
  EXPECT_NEAR(term(launch, "latency"), 11300 / 1.296e9, 1e-12);
  EXPECT_EQ(launch.bottleneck, "latency");
}

TEST_F(TimeModel, OperationsThatNoTableHasTakeThoseOfTheirFamily) {
  EXPECT_EQ(issue_cycles(gpu_, "matrix.bfloat"), issue_cycles(gpu_, "matrix.float"));
  EXPECT_EQ(issue_cycles(gpu_, "half.fma"), 1);
  EXPECT_EQ(issue_cycles(gpu_, "float.fusable"), 0);
  EXPECT_EQ(issue_cycles(gpu_, "float.atan2"), 16);
  EXPECT_EQ(issue_cycles(gpu_, "short.mul"), 4);
}

TEST_F(TimeModel, LaunchesFollowEachOtherInCommandBuffersOfFifty) {
  ModelledLaunch one;
  one.seconds = 3e-6;
  EXPECT_NEAR(model_program(gpu_, {one}, {50}).seconds, 150e-6, 1e-12);
  one.kernel_seconds = 1e-6;
  const ModelledProgram program = model_program(gpu_, {one}, {51});
  EXPECT_NEAR(program.seconds, 173e-6, 1e-12);
  EXPECT_NEAR(program.launching_seconds, 122e-6, 1e-12);  // all but the kernels' 51 us
}

TEST_F(TimeModel, ATraceWithoutCountsIsAnError) {
  EXPECT_FALSE(model_launch(gpu_, {"k", 1, 32}, Json::object()));
  EXPECT_FALSE(model_launch(gpu_, {"k", 1, 32}, Json{{"not_traced", "a loop without end"}}));
}

}  // namespace
}  // namespace ksearch::target
