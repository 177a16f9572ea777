// What a trace says of small kernels, against the arithmetic on paper. The two lines of every
// source before the kernel are the include and the using.
#include "kernel_test.h"
#include "os/files.h"
#include "simt/object_cache.h"

namespace ksearch::simt {
namespace {
using base::Json;

class Trace_ : public KernelTest {
 protected:
  Json trace(const Case& all, std::uint32_t groups = kAllGroups) {
    CheckOptions options;
    options.trace_groups = groups;
    const Report report = run(all, options);
    EXPECT_TRUE(report.clean()) << report.findings.front().message;
    EXPECT_FALSE(report.trace.contains("not_traced")) << report.trace.dump(1);
    return report.trace;
  }
  static const Json& buffer(const Json& trace, const std::string& name) {
    static const Json none;
    for (const Json& buffer : trace.at("buffers"))
      if (buffer.at("name") == name) return buffer;
    return none;
  }
  /// Threads and SIMD-groups that did it, or {0, 0}.
  static std::pair<int, int> operation(const Json& operations, const std::string& kind) {
    if (!operations.contains(kind)) return {0, 0};
    return {operations.at(kind).at("threads"), operations.at(kind).at("simdgroups")};
  }
  static const Json& place(const Json& trace, int line) {
    static const Json none = {{"operations", Json::object()}, {"accesses", Json::array()}};
    for (const Json& place : trace.at("places"))
      if (place.at("line") == line) return place;
    return none;
  }
};

TEST_F(Trace_, LinesOfDeviceMemory) {
  const Json found = trace(
      make("kernel void k(device const float* one [[buffer(0)]], device const float* far "
           "[[buffer(1)]],\n"
           "  device const float* same [[buffer(2)]], device const float* shifted [[buffer(3)]],\n"
           "  device const half4* four [[buffer(4)]], device const half* eight [[buffer(5)]],\n"
           "  device const float* some [[buffer(6)]], device float* y [[buffer(7)]],\n"
           "  constant uint& n [[buffer(8)]], uint t [[thread_position_in_grid]]) {\n"
           "  float a = one[t] + far[32 * t] + same[0] + shifted[t + 8];\n"
           "  half4 q = four[t];\n"
           "  a += float(q.x) * float(q.y) + float(q.z) * float(q.w);\n"
           "  for (uint i = 0; i < 8; ++i) a += float(eight[8 * t + i]);\n"
           "  if (t % 2 == 0) y[t + 64] = some[t];\n"
           "  y[t] = a * float(n);\n}\n",
           1, 64,
           {"one=f32:64:iota", "far=f32:2048:iota", "same=f32:1:iota", "shifted=f32:72:iota",
            "four=f16:256:iota", "eight=f16:512:iota", "some=f32:64:iota", "y=f32:128:const:0",
            "n=u32:1:const:3"}));
  struct Row {
    const char* name;
    int bytes, requests, lines;
  };
  for (const Row& row : {Row{"one", 256, 2, 2}, Row{"far", 256, 2, 64}, Row{"same", 256, 2, 2},
                         Row{"shifted", 256, 2, 4}, Row{"four", 512, 2, 4},
                         Row{"eight", 1024, 2, 8}, Row{"some", 128, 2, 2}}) {
    const Json& loads = buffer(found, row.name).at("loads");
    EXPECT_EQ(loads.at("bytes"), row.bytes) << row.name;
    EXPECT_EQ(loads.at("requests"), row.requests) << row.name;
    EXPECT_EQ(loads.at("lines"), row.lines) << row.name;
  }
  EXPECT_EQ(buffer(found, "far").at("group_lines"), 64);
  EXPECT_EQ(buffer(found, "shifted").at("group_lines"), 3);
  EXPECT_EQ(buffer(found, "shifted").at("distinct_lines"), 3);
  EXPECT_EQ(buffer(found, "same").at("distinct_bytes_read"), 4);
  EXPECT_EQ(buffer(found, "n").at("loads").at("bytes"), 0);
  EXPECT_EQ(buffer(found, "n").at("constant_bytes_read"), 256);
  // 64 threads, and every second one: four requests of a line each.
  EXPECT_EQ(buffer(found, "y").at("stores").at("bytes"), 256 + 128);
  EXPECT_EQ(buffer(found, "y").at("stores").at("requests"), 4);
  EXPECT_EQ(buffer(found, "y").at("stores").at("lines"), 4);
}

TEST_F(Trace_, BanksOfThreadgroupMemory) {
  const Json found = trace(make(
      "kernel void k(device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float w[32 * 33];\n"
      "  for (uint i = 0; i < 33; ++i) w[32 * i + t] = float(i);\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  float a = w[2 * t];\n"
      "  a += w[32 * t];\n"
      "  a += w[33 * t];\n"
      "  a += w[0];\n"
      "  a += float(((threadgroup half*)w)[t]);\n"
      "  float4 v = ((threadgroup float4*)w)[t];\n"
      "  y[t] = a + v.x + v.y + v.z + v.w;\n}\n",
      1, 32, {"y=f32:32"}));
  const auto turns = [&](int line) {
    const Json& access = place(found, line).at("accesses").at(0);
    EXPECT_EQ(access.at("buffer"), "threadgroup");
    return std::array<int, 3>{access.at("requests"), access.at("turns"), access.at("conflicts")};
  };
  using Turns = std::array<int, 3>;
  EXPECT_EQ(turns(5), (Turns{33, 33, 0}));
  EXPECT_EQ(turns(7), (Turns{1, 2, 1}));
  EXPECT_EQ(turns(8), (Turns{1, 32, 31}));
  EXPECT_EQ(turns(9), (Turns{1, 1, 0}));
  EXPECT_EQ(turns(10), (Turns{1, 1, 0}));
  EXPECT_EQ(turns(11), (Turns{1, 1, 0}));
  EXPECT_EQ(turns(12), (Turns{1, 4, 0}));
  const Json& memory = found.at("group_memory");
  EXPECT_EQ(memory.at("bytes"), 32 * 33 * 4);
  EXPECT_EQ(memory.at("stores").at("bytes"), 32 * 33 * 4);
  EXPECT_EQ(memory.at("loads").at("bytes"), 32 * (4 * 4 + 2 + 16));
  EXPECT_EQ(memory.at("loads").at("conflicts"), 32);
  EXPECT_EQ(found.at("dependent_steps"), 1);
}

TEST_F(Trace_, OperationsOfAPartialGroupWithDivergence) {
  const Json found = trace(make(
      "kernel void k(device const float* x [[buffer(0)]], device const half* h [[buffer(1)]],\n"
      "  device const int* n [[buffer(2)]], device float* y [[buffer(3)]],\n"
      "  device half* z [[buffer(4)]], device atomic_uint* c [[buffer(5)]],\n"
      "  device bfloat* b [[buffer(6)]], uint t [[thread_position_in_grid]]) {\n"
      "  float a = x[t] * 3.0f + 1.5f;\n"
      "  a = fma(a, a, 2.0f);\n"
      "  a = exp(a) / 7.0f;\n"
      "  z[t] = h[t] * h[t] - half(1);\n"
      "  z[t + 40] = exp2(h[t]);\n"
      "  b[t] = b[t] + bfloat(2.0f);\n"
      "  int i = n[t] * 5 + 3;\n"
      "  uint bits = popcount(uint(i));\n"
      "  if (t % 8 == 0) y[t + 40] = rsqrt(a);\n"
      "  for (uint j = 0; j < t; ++j) a += x[j];\n"
      "  a += simd_shuffle_xor(a, 0);\n"
      "  a = simd_sum(a);\n"
      "  bool any = simd_any(i > 4);\n"
      "  threadgroup_barrier(mem_flags::mem_none);\n"
      "  atomic_fetch_add_explicit(c, 1u, memory_order_relaxed);\n"
      "  y[t] = any ? a : float(bits);\n}\n",
      1, 40,
      {"x=f32:40:iota", "h=f16:40:iota", "n=i32:40:iota", "y=f32:80:const:0", "z=f16:80:const:0",
       "c=u32:1:const:0", "b=bf16:40:iota"}));
  using Runs = std::pair<int, int>;
  const auto at = [&](int line, const char* kind) {
    return operation(place(found, line).at("operations"), kind);
  };
  EXPECT_EQ(at(7, "float.mul"), (Runs{40, 2}));
  EXPECT_EQ(at(7, "float.add"), (Runs{40, 2}));
  EXPECT_EQ(at(7, "float.fusable"), (Runs{40, 2}));
  EXPECT_EQ(at(8, "float.fma"), (Runs{40, 2}));
  EXPECT_EQ(at(9, "float.exp"), (Runs{40, 2}));
  EXPECT_EQ(at(9, "float.div"), (Runs{40, 2}));
  EXPECT_EQ(at(10, "half.mul"), (Runs{40, 2}));
  EXPECT_EQ(at(10, "half.add"), (Runs{40, 2}));
  EXPECT_EQ(at(11, "half.exp2"), (Runs{40, 2}));
  EXPECT_EQ(at(12, "bfloat.add"), (Runs{40, 2}));
  EXPECT_EQ(at(13, "int.mul"), (Runs{40, 2}));
  EXPECT_EQ(at(13, "int.add"), (Runs{40, 2}));
  EXPECT_EQ(at(14, "int.bit"), (Runs{40, 2}));
  EXPECT_EQ(at(15, "float.rsqrt"), (Runs{5, 2}));  // threads 0, 8, 16, 24 and 32
  EXPECT_EQ(at(16, "float.add"), (Runs{40 * 39 / 2, 31 + 39}));
  EXPECT_EQ(at(17, "simd.shuffle"), (Runs{40, 2}));
  EXPECT_EQ(at(18, "simd.reduce"), (Runs{40, 2}));
  EXPECT_EQ(at(19, "simd.vote"), (Runs{40, 2}));
  EXPECT_EQ(at(20, "barrier.group"), (Runs{40, 2}));
  EXPECT_EQ(at(21, "atomic"), (Runs{40, 2}));
  const Json& all = found.at("operations");
  EXPECT_EQ(operation(all, "half.exp"), (Runs{0, 0}));
  EXPECT_EQ(operation(all, "convert.half_float"), (Runs{0, 0}));
  EXPECT_EQ(operation(all, "convert.float_half"), (Runs{0, 0}));
  EXPECT_EQ(operation(all, "float.rsqrt"), (Runs{5, 2}));
  EXPECT_EQ(found.at("dependent_steps"), 4);
  EXPECT_EQ(buffer(found, "c").at("atomics"), 40);
  EXPECT_EQ(found.at("pipeline").at("thread_limit"), 1024);
}

// All values are loaded before a barrier and used behind it.
TEST_F(Trace_, RegistersLimitGroupsOfM1AndSpillBeyondWhatThereAre) {
  const auto kernel = [](int live) {
    return make(
        "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], "
        "uint t [[thread_position_in_grid]]) {\n"
        "  constexpr int n = " +
            std::to_string(live) +
            ";\n"
            "  float v[n], s = 0;\n"
            "#pragma clang loop unroll(full)\n"
            "  for (int i = 0; i < n; ++i) v[i] = x[t + i];\n"
            "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
            "#pragma clang loop unroll(full)\n"
            "  for (int i = 0; i < n; ++i) s += v[i] * v[n - 1 - i];\n"
            "  y[t] = s;\n}\n",
        1, 1024, {"x=f32:1200:iota", "y=f32:1024"});
  };
  CheckOptions options;
  options.trace_groups = kAllGroups;
  const Report many = run(kernel(100), options);
  ASSERT_EQ(many.warnings.size(), 1u);
  EXPECT_NE(many.warnings[0].find("M1 and M2 have room for"), std::string::npos);
  EXPECT_EQ(many.trace.at("spills").at("loads"), 0);
  options.limits.by_registers = false;  // M3 and later
  EXPECT_TRUE(run(kernel(100), options).warnings.empty());
  const Report spilled = run(kernel(160), options);
  const Json& spills = spilled.trace.at("spills");
  // Of 160 values of 32 bits up to 125 have a register, for each of 32 SIMD-groups.
  EXPECT_GE(spills.at("stores"), 32 * (160 - 125));
  EXPECT_LE(spills.at("stores"), 32 * (160 - 110));
  EXPECT_GE(spills.at("loads"), spills.at("stores"));
}

TEST_F(Trace_, MatricesOfASimdgroup) {
  const Json found = trace(
      make("kernel void k(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],\n"
           "  device float* y [[buffer(2)]]) {\n"
           "  simdgroup_float8x8 c = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
           "  for (int i = 0; i < 4; ++i) {\n"
           "    simdgroup_half8x8 p, q;\n"
           "    simdgroup_load(p, a + 8 * i, 32);\n"
           "    simdgroup_load(q, b + 64 * i, 8);\n"
           "    simdgroup_multiply_accumulate(c, p, q, c);\n"
           "  }\n"
           "  simdgroup_store(c, y, 8);\n}\n",
           1, 32, {"a=f16:256:iota", "b=f16:256:iota", "y=f32:64"}));
  EXPECT_EQ(operation(found.at("operations"), "matrix.half"), (std::pair{4 * 32, 4}));
  // 8 rows of 16 bytes, 64 bytes apart: 4 lines. 128 bytes together: one.
  EXPECT_EQ(buffer(found, "a").at("loads").at("requests"), 4);
  EXPECT_EQ(buffer(found, "a").at("loads").at("lines"), 16);
  EXPECT_EQ(buffer(found, "b").at("loads").at("requests"), 4);
  EXPECT_EQ(buffer(found, "b").at("loads").at("lines"), 4);
  EXPECT_EQ(buffer(found, "y").at("stores").at("requests"), 1);
  EXPECT_EQ(buffer(found, "y").at("stores").at("lines"), 2);
  for (const auto& [kind, runs] : found.at("operations").items())
    EXPECT_TRUE(kind == "matrix.half" || kind.starts_with("int.") || kind == "branch") << kind;
}

// Rows of a triangle, as causal attention has them: a group's work grows with its position.
TEST_F(Trace_, ASampleOfGroupsAgreesWithAll) {
  const Case all = make(
      "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
      "  uint2 g [[threadgroup_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {\n"
      "  float a = 0;\n"
      "  for (uint j = 0; j <= g.x; ++j) a += x[(g.y * 96 + j) * 32 + t] * x[j * (g.y + 1)];\n"
      "  y[(g.y * 96 + g.x) * 32 + t] = exp2(simd_sum(a));\n}\n",
      96, 32, {"x=f32:12288:const:0.01", "y=f32:12288"});
  Case wide = all;
  wide.launches[0].groups[1] = 4;
  const Json full = trace(wide), sampled = trace(wide, 48);
  EXPECT_EQ(full.at("sample").at("traced"), 384);
  EXPECT_EQ(sampled.at("sample").at("of"), 384);
  EXPECT_LE(sampled.at("sample").at("traced"), 60);
  const auto near = [](const Json& a, const Json& b, const char* what) {
    EXPECT_NEAR(a.get<double>() / b.get<double>(), 1, 0.03) << what;
  };
  for (const char* kind : {"float.add", "float.mul", "float.exp2", "simd.reduce"})
    near(sampled.at("operations").at(kind).at("simdgroups"),
         full.at("operations").at(kind).at("simdgroups"), kind);
  for (const char* key : {"bytes", "requests", "lines"}) {
    near(buffer(sampled, "x").at("loads").at(key), buffer(full, "x").at("loads").at(key), key);
    near(buffer(sampled, "y").at("stores").at(key), buffer(full, "y").at("stores").at(key), key);
  }
  EXPECT_EQ(buffer(full, "x").at("loads").at("bytes"), 4 * 96 * 97 / 2 * 32 * 8);
}

TEST_F(Trace_, InoutBuffersBeginAnewAndLaunchesFollowEachOther) {
  Case all = make(
      "kernel void k(device uint* n [[buffer(0)]], device uint* y [[buffer(1)]],\n"
      "  uint g [[threadgroup_position_in_grid]]) {\n"
      "  for (uint i = 0; i < n[g]; ++i) ((volatile device uint*)y)[g] = i;\n"
      "  n[g] += 2;\n}\n",
      8, 1, {"n=u32:8:const:3", "y=u32:8:const:0"});
  all.buffers[0].role = all.buffers[1].role = Role::inout;
  all.launches.push_back(all.launches[0]);
  // 3 stores a group, then 5, and one of n each.
  const Json found = trace(all);
  EXPECT_EQ(buffer(found, "y").at("stores").at("bytes"), 8 * 4 * (3 + 5));
  EXPECT_EQ(found.at("sample").at("of"), 16);
}

TEST_F(Trace_, WhatCannotBeTracedSaysSo) {
  CheckOptions options;
  options.trace_groups = kAllGroups;
  const Report report =
      run(make("kernel void k(device float* y [[buffer(0)]], constant ulong& far [[buffer(1)]]) {\n"
               "  y[far] = 1;\n}\n",
               1, 1, {"y=f32:1", "far=u64:1:const:70368744177664"}),
          options);
  EXPECT_FALSE(report.clean());
  EXPECT_NE(report.trace.value("not_traced", "").find("a fault"), std::string::npos);
}

TEST_F(Trace_, CudaKernelsAreCountedAsMetalOnes) {
  Case all = make("", 3, 64, {"x=f32:192:normal", "y=f32:192", "n=u32:1:const:0:inout"});
  all.dialect = Dialect::cuda;
  all.file = "kernel.cu";
  all.source =
      "template <int kTimes>\n__global__ void k(const float* x, float* y, unsigned* n) {\n"
      "  __shared__ float turned[64];\n  turned[63 - threadIdx.x] = x[blockIdx.x * 64 + "
      "threadIdx.x];\n"
      "  __syncthreads();\n  float v = turned[threadIdx.x];\n"
      "  v += __shfl_xor_sync(0xffffffffu, v, 1);\n"
      "  y[blockIdx.x * 64 + threadIdx.x] = v * kTimes;\n"
      "  __syncwarp();\n  __threadfence();\n  atomicAdd(n, 1u);\n}\n";
  all.launches[0].kernel = "k<3>";
  const Json found = trace(all);
  EXPECT_EQ(buffer(found, "x").at("loads"),
            Json({{"accesses", 192}, {"bytes", 768}, {"requests", 6}, {"lines", 6}}));
  EXPECT_EQ(buffer(found, "y").at("stores").at("bytes"), 768);
  EXPECT_EQ(found.at("group_memory").at("stores").at("bytes"), 768);
  const Json& operations = found.at("operations");
  EXPECT_EQ(operation(operations, "float.mul"), std::pair(192, 6));
  EXPECT_EQ(operation(operations, "simd.shuffle"), std::pair(192, 6));
  EXPECT_EQ(operation(operations, "barrier.group"), std::pair(192, 6));
  EXPECT_EQ(operation(operations, "barrier.simdgroup"), std::pair(192, 6));
  EXPECT_EQ(operation(operations, "atomic"), std::pair(192, 6));
  EXPECT_EQ(operation(operations, "simd.reduce"), std::pair(0, 0));  // a fence is none
}

TEST_F(Trace_, InitialisersOfConstantsRunBeforeThereIsAThread) {
  const Json found = trace(
      make("inline float series(int n) {\n  float s = 0;\n"
           "  for (int i = 1; i < n; ++i) s += sin(float(i));\n  return s;\n}\n"
           "constant float table[2] = {series(1000), series(2000)};\n"
           "kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
           "  y[i] = table[i % 2] + series(int(i));\n}\n",
           1, 4, {"y=f32:4"}));
  // Of series(0) to series(3) in the kernel.
  EXPECT_EQ(found.at("operations").at("float.sin").at("threads"), 0 + 0 + 1 + 2);
}

TEST_F(Trace_, WhatWasFoundOutAboutAKernelIsKept) {
  const Case all = make(
      "kernel void k(device float* y [[buffer(0)]], uint t [[thread_position_in_grid]]) {\n"
      "  threadgroup float a[64];\n  a[t] = y[t] * 2 + 1;\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n  y[t] = a[63 - t];\n}\n",
      1, 64, {"y=f32:64:iota:inout"});
  const auto prepared = prepare(*builder_, all);
  ASSERT_TRUE(prepared);
  const auto first = build_traced(*builder_, *prepared);
  const auto again = build_traced(*builder_, *prepared);
  ASSERT_TRUE(first && again);
  EXPECT_TRUE(again->program.text.empty());  // not instrumented a second time
  EXPECT_EQ(to_json(*first), to_json(*again));
  EXPECT_GT(to_json(*again).at("sites").size(), 3u);
  EXPECT_EQ(trace(all), trace(all));
}

TEST_F(Trace_, TheTextOfAWatchedKernelIsReadOnce) {
  const auto folder = os::TempFolder::create("watched");
  ASSERT_TRUE(folder);
  const toolchain::Builder builder(builder_->compiler(), builder_->sandbox(), folder->path());
  const Case all = make("kernel void k(device float* y [[buffer(0)]]) { y[0] = 1; }\n", 1, 1, {});
  const auto prepared = prepare(builder, all);
  ASSERT_TRUE(prepared);
  const auto first = build_object(builder, *prepared, {});
  ASSERT_TRUE(first) << first.error().text();
  int texts = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder->path()))
    if (entry.path().extension() == ".ll") {
      ASSERT_TRUE(os::write_file(entry.path(), "no LLVM text"));
      ++texts;
    }
  EXPECT_EQ(texts, 1);
  const auto again = build_object(builder, *prepared, {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *first);
}

TEST_F(Trace_, AKeptFileThatIsNotWholeIsMadeAnew) {
  const auto folder = os::TempFolder::create("traced");
  ASSERT_TRUE(folder);
  const toolchain::Built text{folder->path() / "kernel.ll", "key"};
  const ObjectCache cache(text);
  EXPECT_FALSE(cache.find());
  const TracedObject kept{folder->path() / "kernel.so", {.kinds = {"float.add"}}};
  cache.keep(kept);
  EXPECT_FALSE(cache.find());  // its library is not there
  ASSERT_TRUE(os::write_file(kept.file, ""));
  EXPECT_TRUE(cache.find());
  for (const auto& entry : std::filesystem::directory_iterator(folder->path())) {
    if (entry.path().extension() != ".json") continue;
    ASSERT_TRUE(os::write_file(entry.path(), "{\"object\": 3}"));
  }
  EXPECT_FALSE(cache.find());
}

TEST(TraceGroups, ANumberOrAll) {
  EXPECT_EQ(*parse_trace_groups("0"), 0u);
  EXPECT_EQ(*parse_trace_groups("128"), 128u);
  EXPECT_EQ(*parse_trace_groups("all"), kAllGroups);
  for (const char* text : {"", "some", "-1", "12x"}) EXPECT_FALSE(parse_trace_groups(text)) << text;
}

}  // namespace
}  // namespace ksearch::simt
