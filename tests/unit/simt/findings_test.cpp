// What is wrong in small kernels, with its lines; and twins of them that are right. The two lines
// of every source before the kernel are the include and the using.
#include "kernel_test.h"

namespace ksearch::simt {
namespace {

using Kinds = std::vector<std::string>;

class Findings_ : public KernelTest {
 protected:
  static std::string tile_kernel(const std::string& middle) {
    return "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
           "  uint t [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {\n"
           "  threadgroup float tile[64];\n"
           "  tile[t] = x[g];\n" +
           middle + "}\n";
  }
  Report tile(const std::string& middle) {
    return run(make(tile_kernel(middle), 2, 64, {"x=f32:128:iota", "y=f32:128"}));
  }
};

TEST_F(Findings_, AMissingBarrierIsARaceWithBothLines) {
  const Report report = tile("  y[g] = tile[63 - t];\n");
  EXPECT_EQ(kinds(report)[0], "data_race");
  const auto where = lines(report);
  EXPECT_TRUE(where.size() >= 2 && where[0] + where[1] == 6 + 7) << testing::PrintToString(where);
  EXPECT_EQ(report.findings[0].buffer, "tile");
}

TEST_F(Findings_, ABarrierThatNamesTheMemoryOrders) {
  EXPECT_EQ(
      kinds(tile("  threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = tile[63 - t];\n")),
      Kinds());
}

TEST_F(Findings_, ABarrierThatNamesNoMemoryDoesNot) {
  EXPECT_EQ(kinds(tile("  threadgroup_barrier(mem_flags::mem_none);\n  y[g] = tile[63 - t];\n"))[0],
            "data_race");
}

TEST_F(Findings_, ASimdgroupBarrierOrdersItsLanesOnly) {
  EXPECT_EQ(
      kinds(tile("  simdgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = tile[t ^ 1];\n")),
      Kinds());
  EXPECT_EQ(
      kinds(tile("  simdgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = tile[t ^ 32];\n"))[0],
      "data_race");
}

TEST_F(Findings_, GroupsOfALaunchRace) {
  const Report report = run(
      make("kernel void k(device float* y [[buffer(0)]], uint g [[thread_position_in_grid]]) {\n"
           "  y[g % 32] = float(g);\n}\n",
           2, 32, {"y=f32:32"}));
  EXPECT_EQ(kinds(report), Kinds{"data_race"});
  EXPECT_NE(report.findings[0].message.find("another group"), std::string::npos);
}

TEST_F(Findings_, WritesOfOneValueAreNoRace) {
  EXPECT_EQ(kinds(run(make("kernel void k(device float* y [[buffer(0)]]) { y[0] = 3.0f; }\n", 2, 32,
                           {"y=f32:1"}))),
            Kinds());
}

TEST_F(Findings_, NeighbouringBytesAreNoRace) {
  EXPECT_EQ(kinds(run(make("kernel void k(device uchar* y [[buffer(0)]],\n"
                           "  uint g [[thread_position_in_grid]]) { y[g] = uchar(g); }\n",
                           2, 32, {"y=u8:64"}))),
            Kinds());
}

TEST_F(Findings_, AtomicsDoNotRaceWithAtomicsButWithPlainReads) {
  const std::string head =
      "kernel void k(device atomic_uint* n [[buffer(0)]], device uint* y [[buffer(1)]],\n"
      "  uint g [[thread_position_in_grid]]) {\n"
      "  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);\n";
  EXPECT_EQ(kinds(run(make(head + "  y[g] = 1; }\n", 2, 32, {"n=u32:1:const:0", "y=u32:64"}))),
            Kinds());
  EXPECT_EQ(kinds(run(make(head + "  y[g] = ((device uint*)n)[0]; }\n", 2, 32,
                           {"n=u32:1:const:0", "y=u32:64"})))[0],
            "data_race");
}

TEST_F(Findings_, OutOfBoundsNamesBufferAndByte) {
  const Report report =
      run(make("kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
               "  uint g [[thread_position_in_grid]]) {\n  y[g] = x[g + 1];\n}\n",
               1, 32, {"x=f32:32:iota", "y=f32:32"}));
  ASSERT_EQ(kinds(report), Kinds{"out_of_bounds"});
  EXPECT_EQ(report.findings[0].buffer, "x");
  EXPECT_EQ(*report.findings[0].offset, 128);
  EXPECT_EQ(report.findings[0].threads, (std::vector<std::uint32_t>{31}));
  EXPECT_EQ(lines(report), (std::vector<int>{5}));
}

TEST_F(Findings_, AWildAddressIsOutOfBoundsToo) {
  const Report report =
      run(make("kernel void k(device float* y [[buffer(0)]], constant ulong& far [[buffer(1)]]) {\n"
               "  y[far] = 1;\n}\n",
               1, 1, {"y=f32:1", "far=u64:1:const:70368744177664"}));
  EXPECT_EQ(kinds(report), Kinds{"out_of_bounds"});
  EXPECT_EQ(lines(report), (std::vector<int>{4}));
}

TEST_F(Findings_, ThreadgroupArraysHaveBounds) {
  const Report report =
      tile("  threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = tile[t + 1];\n");
  EXPECT_EQ(kinds(report)[0], "out_of_bounds");
  EXPECT_EQ(lines(report)[0], 8);
}

TEST_F(Findings_, PrivateArraysHaveBounds) {
  const Report report =
      run(make("kernel void k(device float* y [[buffer(0)]], constant int& n [[buffer(1)]]) {\n"
               "  float a[4] = {1, 2, 3, 4};\n  y[0] = a[n];\n}\n",
               1, 1, {"y=f32:1", "n=i32:1:const:4"}));
  EXPECT_EQ(kinds(report)[0], "out_of_bounds");
  EXPECT_EQ(lines(report)[0], 5);
}

TEST_F(Findings_, PrivateArraysHaveBoundsThroughAPointerToo) {
  const Report report = run(
      make("float total(thread const float* v, int n) {\n  float t = 0;\n"
           "  for (int k = 0; k < n; ++k) t += v[k];\n  return t;\n}\n"
           "kernel void k(device float* y [[buffer(0)]], constant int& n [[buffer(1)]]) {\n"
           "  float a[8];\n  for (int k = 0; k < 8; ++k) a[k] = k * n;\n  y[0] = total(a, n);\n}\n",
           1, 1, {"y=f32:1", "n=i32:1:const:12"}));
  ASSERT_EQ(kinds(report), Kinds{"out_of_bounds"});
  EXPECT_EQ(lines(report), std::vector<int>{5});
  EXPECT_NE(report.findings[0].message.find("outside a private array"), std::string::npos);
}

TEST_F(Findings_, UnwrittenThreadgroupMemory) {
  const Report report = run(make(
      "kernel void k(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float a[64];\n  if (t < 8) a[t] = 1;\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[t] = a[t];\n}\n",
      1, 32, {"y=f32:32"}));
  EXPECT_EQ(kinds(report), Kinds{"uninitialised_group_memory"});
  EXPECT_EQ(lines(report), (std::vector<int>{7}));
  EXPECT_EQ(*report.findings[0].offset, 32);
}

TEST_F(Findings_, AShuffledValueNobodyUsesIsNoDefect) {
  EXPECT_EQ(
      kinds(run(make(
          "kernel void k(device float* y [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {\n"
          "  float v = 1, u = simd_shuffle_up(v, 1);\n  if (l > 0) v += u;\n"
          "  float w = simd_shuffle_down(v, 4);\n  y[l] = select(v, w, l < 28);\n}\n",
          1, 32, {"y=f32:32"}))),
      Kinds());
}

TEST_F(Findings_, AShuffledValueThatDecidesABranchIs) {
  const Report report = run(
      make("kernel void k(device float* y [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {\n"
           "  float v = simd_shuffle_down(float(l), 1);\n  if (v > 3) y[l] = 1; else y[l] = "
           "exp(2.0f);\n}\n",
           1, 32, {"y=f32:32"}));
  EXPECT_EQ(kinds(report)[0], "undefined_lane");
  EXPECT_EQ(lines(report)[0], 4);
}

TEST_F(Findings_, BarriersThatSomeDoNotReach) {
  const Report returned = tile(
      "  if (t > 40) return;\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = 1;\n");
  EXPECT_EQ(returned.findings[0].kind, "barrier_divergence");
  EXPECT_EQ(returned.findings[0].where[0].line, 8);
  const Report apart = tile(
      "  if (t > 40) threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  else threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[g] = 1;\n");
  EXPECT_EQ(apart.findings[0].kind, "barrier_divergence");
  EXPECT_EQ(apart.findings[0].where.size(), 2u);
  const Report lanes = tile(
      "  if (t % 2 == 0) simdgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  y[g] = 1;\n");
  EXPECT_EQ(lanes.findings[0].kind, "barrier_divergence");
}

TEST_F(Findings_, ABarrierTheWholeGroupSkipsIsFine) {
  EXPECT_EQ(kinds(run(make(
                "kernel void k(device float* y [[buffer(0)]],\n"
                "  uint t [[thread_position_in_grid]], uint w [[threadgroup_position_in_grid]]) {\n"
                "  y[t] = 1;\n  if (w == 0) return;\n"
                "  threadgroup_barrier(mem_flags::mem_device);\n}\n",
                2, 64, {"y=f32:128"}))),
            Kinds());
}

TEST_F(Findings_, Limits) {
  const Report memory = run(make(
      "kernel void k(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float a[9000];\n  a[t] = 1;\n  y[t] = a[t];\n}\n",
      1, 32, {"y=f32:32"}));
  EXPECT_EQ(kinds(memory), Kinds{"group_memory_limit"});
  EXPECT_EQ(lines(memory), (std::vector<int>{4}));
  const Report threads = run(
      make("kernel void k(device float* y [[buffer(0)]]) { y[0] = 1; }\n", 1, 1025, {"y=f32:1"}));
  EXPECT_EQ(kinds(threads), Kinds{"group_size_limit"});
}

TEST_F(Findings_, MisalignedVectorsButNotPackedOnes) {
  const auto kernel = [](const std::string& type) {
    return "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {\n"
           "  y[0] = (*(device const " +
           type + "*)(x + 1)).x;\n}\n";
  };
  const std::vector<std::string> buffers = {"x=f32:8:iota", "y=f32:1"};
  const Report report = run(make(kernel("float4"), 1, 1, buffers));
  EXPECT_EQ(kinds(report), Kinds{"misaligned_access"});
  EXPECT_EQ(report.findings[0].buffer, "x");
  EXPECT_EQ(lines(report), (std::vector<int>{4}));
  EXPECT_EQ(kinds(run(make(kernel("packed_float4"), 1, 1, buffers))), Kinds());
}

TEST_F(Findings_, AMisalignedVectorCopiedWhole) {
  const auto kernel = [](const std::string& statement) {
    return "template <class V> void copy(device V* to, device const float* x) {\n"
           "  to[0] = *(device const V*)x;\n}\n"
           "kernel void k(device const float* x [[buffer(0)]], device float4* y [[buffer(1)]],\n"
           "              device float* z [[buffer(2)]]) {\n  " +
           statement + "\n}\n";
  };
  const std::vector<std::string> buffers = {"x=f32:16:iota", "y=f32:4", "z=f32:8:const:0:inout"};
  const std::pair<std::string, std::string> statements[] = {
      {"y[0] = *(device const float4*)(x + 1);", "x"},
      {"y[0] = *(device const float4*)&x[1];", "x"},
      {"y[0] = ((device const float4*)(x + 1))[1];", "x"},
      {"y[0] = *((device const float4*)(x + 1) + 1);", "x"},
      {"y[0] = *reinterpret_cast<device const float4*>(x + 1);", "x"},
      {"device const float4* w = (device const float4*)(x + 1); y[0] = w[1];", "x"},
      {"auto w = reinterpret_cast<device const vec<float, 4>*>(x + 1); y[0] = *w;", "x"},
      {"copy(y, x + 3);", "x"},
      {"y[0] = 0; *(device float4*)(z + 1) = *(device const float4*)(x + 4);", "z"},
      {"y[0] = 0; ((device float4*)(z + 1))[0] = float4(1);", "z"}};
  for (const auto& [statement, buffer] : statements)
    for (const int optimize : {0, 2}) {
      const Report report = run(make(kernel(statement), 1, 1, buffers), {.optimize = optimize});
      ASSERT_EQ(kinds(report), Kinds{"misaligned_access"}) << statement << optimize;
      EXPECT_EQ(report.findings[0].buffer, buffer) << statement;
    }
}

TEST_F(Findings_, WideValuesBehindCastsThatAreAligned) {
  const Report report = run(make(
      "struct Block { half scale; uchar2 bits[2]; };\n"
      "kernel void k(device const float* x [[buffer(0)]], device float4* y [[buffer(1)]]) {\n"
      "  device const float4* w = (device const float4*)x + 1;\n"
      "  const float4 a = *(device const float4*)(x + 4) * *(device const float4*)x;\n"
      "  const float2 b = ((device const float2*)(x + 2))[1];\n"
      "  threadgroup float t[8];\n"
      "  *(threadgroup float4*)(t + 4) = w[0];\n"
      "  const half s = ((device const Block*)x)[1].scale;\n"
      "  device const uint* u = (device const uint*)x;\n"
      "  device const Block* p = (device const Block*)x + u[0];\n"
      "  const bool first = (device const float*)p == x;\n"
      "  y[0] = a + b.xyxy + *((threadgroup float4*)t + 1) + float(s) + float(p->scale) + first;\n"
      "}\n",
      1, 1, {"x=f32:16:const:0", "y=f32:4"}));
  EXPECT_EQ(kinds(report), Kinds());
  EXPECT_EQ(values<float>(report, "y"), (std::vector<float>{1, 1, 1, 1}));
}

TEST_F(Findings_, MoreThreadsThanTheKernelOrTheDeviceTakes) {
  const Case all = make(
      "constant constexpr int kMost = 32;\n"
      "[[kernel, max_total_threads_per_threadgroup(kMost * 2)]]\n"
      "void k(device float* y [[buffer(0)]], uint t [[thread_position_in_grid]]) {\n"
      "  y[t] = 1;\n}\n",
      2, 64, {"y=f32:128"});
  EXPECT_EQ(kinds(run(all)), Kinds());
  Case larger = all;
  larger.launches[0].group_size[0] = 128;
  larger.launches[0].groups[0] = 1;
  const Report report = run(larger);
  EXPECT_EQ(kinds(report), Kinds{"group_size_limit"});
  EXPECT_EQ(lines(report), std::vector<int>{5});
  EXPECT_NE(report.findings[0].message.find("at most 64"), std::string::npos);
  EXPECT_EQ(kinds(run(all, {.limits = {.threads = 32}})), Kinds{"group_size_limit"});
}

TEST_F(Findings_, ThreadgroupMemoryOverADevicesLimit) {
  const Case all = make(
      "kernel void k(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float a[4096];\n  a[t] = 1;\n  y[t] = a[t];\n}\n",
      1, 32, {"y=f32:32"});
  EXPECT_EQ(kinds(run(all)), Kinds());
  EXPECT_EQ(kinds(run(all, {.limits = {.group_memory_bytes = 16384}})), Kinds());
  EXPECT_EQ(kinds(run(all, {.limits = {.group_memory_bytes = 16380}})),
            Kinds{"group_memory_limit"});
}

TEST_F(Findings_, AnAccessJustBeforeABufferIsTheBuffers) {
  const Report report = run(make(
      "kernel void k(device const float* x [[buffer(0)]], device const float* w [[buffer(1)]],\n"
      "              device float* y [[buffer(2)]]) {\n  y[0] = w[-1] + x[4];\n}\n",
      1, 1, {"x=f32:4:iota", "w=f32:4:iota", "y=f32:1"}));
  ASSERT_EQ(kinds(report), (Kinds{"out_of_bounds", "out_of_bounds"}));
  const Finding& before = report.findings[report.findings[0].buffer == "w" ? 0 : 1];
  const Finding& after = report.findings[report.findings[0].buffer == "w" ? 1 : 0];
  EXPECT_EQ(before.buffer, "w");
  EXPECT_EQ(*before.offset, -4);
  EXPECT_EQ(after.buffer, "x");
  EXPECT_EQ(*after.offset, 16);
}

class Pipelines : public KernelTest {
 protected:
  /// Launch i writes `count` elements from counts[i].first on, with a function constant of its own.
  Report run_parts(const std::vector<std::pair<int, int>>& parts, const std::string& extra = "") {
    Case all = make(
        "constant int first [[function_constant(0)]];\n"
        "kernel void k(device float* y [[buffer(0)]], uint t [[thread_position_in_grid]]) {\n" +
            extra + "  y[first + int(t)] = float(first);\n}\n",
        1, 32, {"y=f32:64"});
    const Launch one = all.launches[0];
    all.launches.clear();
    for (const auto& [first, count] : parts) {
      all.launches.push_back(one);
      all.launches.back().constants[0] = std::to_string(first);
      all.launches.back().group_size[0] = static_cast<std::uint32_t>(count);
    }
    return run(all);
  }
};

TEST_F(Pipelines, EachWritesAPartOfTheOutput) {
  const Report report = run_parts({{0, 32}, {32, 32}});
  EXPECT_EQ(kinds(report), Kinds());
  EXPECT_EQ(values<float>(report, "y")[0], 0);
  EXPECT_EQ(values<float>(report, "y")[63], 32);
  EXPECT_EQ(kinds(run_parts({{40, 24}, {8, 32}, {0, 8}})), Kinds());
}

TEST_F(Pipelines, APartThatNoneWrites) {
  const Report report = run_parts({{0, 32}, {36, 28}});
  ASSERT_EQ(kinds(report), Kinds{"uncovered_output"});
  EXPECT_EQ(*report.findings[0].offset, 128);
  EXPECT_NE(report.findings[0].message.find("16 of 256"), std::string::npos)
      << report.findings[0].message;
}

TEST_F(Pipelines, ReadsOfWhatAnotherWroteAndOfWhatNoneDid) {
  const std::string reads = "  if (first != 0 && y[int(t)] < 0) return;\n";
  EXPECT_EQ(kinds(run_parts({{0, 32}, {32, 32}}, reads)), Kinds());
  const Report report = run_parts({{0, 16}, {32, 32}, {16, 16}}, reads);
  ASSERT_EQ(kinds(report), Kinds{"uninitialised_output"});
  EXPECT_EQ(report.findings[0].launch, 1);
}

TEST_F(Findings_, AnElementNobodyWrites) {
  const Report report =
      run(make("kernel void k(device float* y [[buffer(0)]],\n"
               "  uint g [[thread_position_in_grid]]) {\n  y[g] = 1;\n}\n",
               1, 32, {"y=f32:40"}));
  EXPECT_EQ(kinds(report), Kinds{"uncovered_output"});
  EXPECT_EQ(*report.findings[0].offset, 128);
  EXPECT_EQ(lines(report), (std::vector<int>{5}));
}

TEST_F(Findings_, AVectorOfThreeIsStoredWhole) {
  for (const int optimize : {0, 2}) {
    CheckOptions options;
    options.optimize = optimize;
    EXPECT_EQ(
        kinds(run(make("kernel void k(device const float3* x [[buffer(0)]],\n"
                       "  device float3* y [[buffer(1)]], uint g [[thread_position_in_grid]]) {\n"
                       "  float3 v = x[g];\n  y[g] = v * 2.0f + v.zyx;\n}\n",
                       1, 8, {"x=f32:8x4:iota", "y=f32:8x4"}),
                  options)),
        Kinds());
  }
}

TEST_F(Findings_, ALoopWithoutEnd) {
  CheckOptions options;
  options.patience = std::chrono::seconds(1);
  const Report report =
      run(make("kernel void k(device atomic_uint* n [[buffer(0)]]) {\n"
               "  while (atomic_load_explicit(n, memory_order_relaxed) == 0) {}\n}\n",
               1, 32, {"n=u32:1:const:0"}),
          options);
  EXPECT_EQ(kinds(report), Kinds{"livelock"});
  EXPECT_EQ(lines(report), (std::vector<int>{4}));
}

TEST_F(Findings_, AWriteAmongReadsOfSeveralSimdgroupsIsARaceInAnyOrder) {
  const Case all = make(
      "kernel void k(device uint* y [[buffer(0)]],\n"
      "  uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup uint a[1];\n  if (t == 0) a[0] = 1;\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  const uint v = a[0];\n"
      "  simdgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  if (t == 0) a[0] = v + 1;\n  y[t] = v;\n}\n",
      1, 128, {"y=u32:128"});
  for (const char* schedule : {"default", "reversed"}) {
    CheckOptions options;
    options.schedule.name = schedule;
    EXPECT_EQ(kinds(run(all, options)), Kinds{"data_race"}) << schedule;
  }
}

// Where it is stopped is a matter of chance: here, always in what goes for a header of ours.
TEST_F(Findings_, ALoopWithoutEndInOurOwnCodeNamesTheLineThatCallsIt) {
  CheckOptions options;
  options.patience = std::chrono::seconds(1);
  const Report report = run(make("#line 1 \"ks_spin.h\"\n"
                                 "[[clang::noinline]] void spin(uint n) {\n"
                                 "  for (uint i = 0; i != 2 * n + 1; i += 2) {}\n}\n"
                                 "#line 20 \"kernel.metal\"\n"
                                 "kernel void k(device uint* n [[buffer(0)]]) {\n"
                                 "  spin(n[0]);\n  n[0] = 1;\n}\n",
                                 1, 32, {"n=u32:1:const:0"}),
                            options);
  EXPECT_EQ(kinds(report), Kinds{"livelock"});
  EXPECT_EQ(lines(report), (std::vector<int>{21}));
}

TEST_F(Findings_, EndlessRecursionUsesTheStackUp) {
  const Report report =
      run(make("[[clang::noinline]] float f(device float* y, float v) {\n"
               "  float a[64];\n  for (int i = 0; i < 64; ++i) a[i] = v + i;\n"
               "  return f(y, a[int(v) % 64] + 1) + a[3];\n}\n"
               "kernel void k(device float* y [[buffer(0)]]) { y[0] = f(y, 1); }\n",
               1, 1, {"y=f32:1"}));
  EXPECT_EQ(kinds(report), Kinds{"stack_overflow"});
}

TEST_F(Findings_, AFrameThatIsLargerThanTheStackIsFoundWhateverOfItIsUsed) {
  const Case all = make(
      "kernel void k(device float* y [[buffer(0)]], constant uint& at [[buffer(1)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  float a[100000];\n  a[at] = i;\n  a[at + 1] = 2 * i;\n  y[i] = a[at + (i & 1)];\n}\n",
      2, 32, {"y=f32:64", "at=u32:1:const:5"});
  for (const bool watch : {true, false}) {
    CheckOptions options;
    options.watch = watch;
    options.jobs = 2;
    EXPECT_EQ(kinds(run(all, options)), Kinds{"stack_overflow"}) << watch;
  }
}

TEST_F(Findings_, ArraysOfScopesThatNeverLiveTogetherShareTheStack) {
  std::string calls;
  for (int k = 0; k < 80; ++k)
    calls += "  if (n > " + std::to_string(k) + ") s += part(x, i, n);\n";
  const Report report = run(make(
      "inline __attribute__((always_inline)) float part(device const float* x, uint i, uint n) {\n"
      "  float a[512];\n"
      "  for (uint j = 0; j < 512; ++j) a[j] = x[(i + j) % n];\n"
      "  float s = 0;\n"
      "  for (uint j = 0; j < 512; ++j) s += a[uint(x[j % n] * 7.0f + 100.0f) % 512];\n"
      "  return s;\n}\n"
      "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
      "              constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
      "  float s = 0;\n" +
          calls + "  y[i] = s;\n}\n",
      1, 1, {"x=f32:256:normal", "y=f32:1", "n=u32:1:const:80"}));
  EXPECT_EQ(kinds(report), Kinds{});
}

TEST_F(Findings_, SchedulesShowARaceAsAnotherResult) {
  const std::string source =
      "kernel void k(device uint* y [[buffer(0)]], uint s [[simdgroup_index_in_threadgroup]]) {\n"
      "  y[0] = s;\n}\n";
  const Case all = make(source, 1, 64, {"y=u32:1"});
  CheckOptions reversed;
  reversed.schedule.name = "reversed";
  EXPECT_EQ(values<std::uint32_t>(run(all), "y"), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(values<std::uint32_t>(run(all, reversed), "y"), (std::vector<std::uint32_t>{0}));
}

TEST_F(Findings_, TheTraceCountsBytesAsOnPaper) {
  Case all = make(
      "kernel void k(device const float4* x [[buffer(0)]], device float4* y [[buffer(1)]],\n"
      "  constant uint& n [[buffer(2)]], uint g [[thread_position_in_grid]]) {\n"
      "  if (g < n) y[g] = x[g] * 2;\n}\n",
      4, 64, {"x=f32:1000:iota", "y=f32:1000", "n=u32:1:const:250"});
  const Report report = run(all);
  EXPECT_EQ(kinds(report), Kinds());
  const base::Json& buffers = report.trace.at("buffers");
  EXPECT_EQ(buffers[0].at("bytes_read"), 4000);
  EXPECT_EQ(buffers[1].at("bytes_written"), 4000);
  EXPECT_EQ(buffers[2].at("bytes_read"), 0);
  EXPECT_EQ(buffers[2].at("constant_bytes_read"), 4 * 256);
}

TEST_F(Findings_, WhatIsNotBoundIsAnErrorNotACrash) {
  EXPECT_EQ(error(make("kernel void k(device float* y [[buffer(3)]]) { y[0] = 1; }\n", 1, 1,
                       {"y=f32:1"})),
            "k: nothing is bound to buffer 3 (give it one with --buffer; in a case.json a buffer "
            "with this "
            "index, or bind)");
}

TEST_F(Findings_, ACompilersErrorNamesTheLine) {
  const std::string text = error(
      make("kernel void k(device float* y [[buffer(0)]]) {\n  y[0] = z;\n}\n", 1, 1, {"y=f32:1"}));
  EXPECT_NE(text.find("kernel.metal:4"), std::string::npos) << text;
}

}  // namespace
}  // namespace ksearch::simt
