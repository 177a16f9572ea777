#include <gtest/gtest.h>

#include "simt/cuda/headers.h"
#include "simt/cuda/ptx.h"
#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

std::string rewritten(std::string_view text, const std::string& kernel = "k") {
  const auto result = rewrite(text, {kernel});
  return result ? result->source : "error: " + result.error().text();
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CudaRewrite, LeavesOutWhatNoKernelNames) {
  const std::string out = rewritten(
      "struct Used { int n; __device__ int get() const { return n; } std::string name() { return "
      "{}; } };\n"
      "std::vector<int> host;\nenum Kind { kOne, kTwo };\nint unused();\n"
      "__device__ int helper(Used u) { return u.get() + kTwo; }\n"
      "__global__ void other(Missing* m) {}\n"
      "__global__ void k(int* y, Used u) { y[0] = helper(u); }\n"
      "int main() { Missing m; k<<<1, 1>>>(0, {}); }\n");
  for (const char* kept : {"struct Used", "int get()", "kTwo };", "int helper("})
    EXPECT_TRUE(has(out, kept)) << kept << "\n" << out;
  for (const char* gone : {"vector", "Missing", "main", "name()", "unused"})
    EXPECT_FALSE(has(out, gone)) << gone << "\n" << out;
  EXPECT_TRUE(has(out, "&ks::Run<&k>::run"));
}

TEST(CudaRewrite, PointersToFunctionsHaveNames) {
  const std::string out = rewritten(
      "typedef float (*Unary)(float x);\ntypedef void (*unused_t)(Missing);\n"
      "__global__ void k(float* y, Unary f) { y[0] = f(1); }\n");
  EXPECT_TRUE(has(out, "typedef float (*Unary)(float x);")) << out;
  EXPECT_FALSE(has(out, "unused_t")) << out;
}

TEST(CudaRewrite, KeepsLines) {
  const std::string text =
      "int main() {\n}\n__global__ void k(float* y) {\n  asm volatile(\"mov.u32 %0,\\n\"\n"
      "    \"%1;\" : \"=r\"(a)\n : \"r\"(b));\n  __shared__ float s[4],\n t[2];\n  MARK;\n}\n";
  const std::string out = rewritten(text);
  const auto line_of = [](const std::string& s) {
    return std::count(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(s.find("MARK")), '\n');
  };
  EXPECT_EQ(line_of(out), line_of(text)) << out;
}

TEST(CudaRewrite, SaysWhichHostFunctionAKernelCalls) {
  const auto result = rewrite(
      "int twice(int x) { return 2 * x; }\n__global__ void k(int* y) { *y = twice(3); }\n", {"k"});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_TRUE(has(result->warnings[0], "twice is a host function")) << result->warnings[0];
}

TEST(CudaRewrite, SharedMemoryIsOneArrayABlock) {
  const std::string out = rewritten(
      "template <class T> __global__ void k(T* y) {\n  __shared__ __align__(16) T a[4][8];\n"
      "  extern __shared__ float dynamic[];\n  static __shared__ typename T::Part p;\n}\n",
      "k<int>");
  EXPECT_TRUE(has(out, "auto& a = *ks::group_array<a__ks>")) << out;
  EXPECT_TRUE(has(out, "typedef float dynamic__ks; dynamic__ks* const dynamic")) << out;
  EXPECT_TRUE(has(out, "typedef typename T :: Part p__ks;")) << out;
  EXPECT_TRUE(has(out, "&ks::Run<&k<int>>::run")) << out;
}

TEST(CudaRewrite, VariablesOfTheFileGoThroughAPointer) {
  const std::string out = rewritten(
      "namespace n { __constant__ float w[3]; __device__ int done = 4; constexpr int kSize = 2;\n"
      "__device__ const int table[] = {1, 2};\n"
      "__global__ void k(float* y) { int local = done; y[0] = w[local] + table[1] + kSize; } }\n"
      "__global__ void k2(float* w) {}\n",
      "n::k");
  EXPECT_TRUE(has(out, "y[0] = w__ks[0][local] + table[1]")) << out;
  EXPECT_TRUE(has(out, "int local = done__ks[0];")) << out;
  EXPECT_TRUE(has(out,
                  "{\"w\", (void**)&n::w__ks, &n::w__ks_initial, sizeof(n::w__ks_initial), "
                  "ks::Space::constant}"))
      << out;
}

TEST(CudaRewrite, WhatWaitsHasANumber) {
  const std::string out = rewritten(
      "__device__ float sum(float v) { return v + __shfl_xor_sync(~0u, v, 1); }\n"
      "__global__ void k(float* y) { y[0] = sum(1); __syncthreads(); group.sync(); "
      "tiles[1].sync(); }\n");
  EXPECT_TRUE(has(out, "ks::at(1u, [&]() KS_IN_LINE -> decltype(auto) { return __shfl_xor_sync"))
      << out;
  EXPECT_TRUE(has(out, "ks::at(2u, [&]() KS_IN_LINE -> decltype(auto) { return sum(1); })")) << out;
  EXPECT_TRUE(has(out, "ks::at(4u, [&]() KS_IN_LINE -> decltype(auto) { return group.sync(); })"))
      << out;
  EXPECT_TRUE(
      has(out, "ks::at(5u, [&]() KS_IN_LINE -> decltype(auto) { return tiles[1].sync(); })"))
      << out;
}

TEST(CudaRewrite, VectorsThroughPointersAreChecked) {
  const std::string out = rewritten(
      "__global__ void k(const float4* x, float* y) { float4 v = x[y[0]]; "
      "*reinterpret_cast<float2*>(y) = "
      "reinterpret_cast<const float2*>(x)[1]; auto p = &x[2]; }\n");
  EXPECT_TRUE(has(out, "float4 v = ks::ref(x + (y[0]));")) << out;
  EXPECT_TRUE(has(
      out,
      "ks::ref(reinterpret_cast<float2*>(y)) = ks::ref(reinterpret_cast<const float2*>(x) + (1));"))
      << out;
  EXPECT_TRUE(has(out, "auto p = &x[2];")) << out;
}

TEST(CudaRewrite, FaultsNameTheLine) {
  EXPECT_TRUE(has(rewritten("# 5 \"a.cu\"\n__global__ void k() { f<<<1, 2>>>(); }"),
                  "a.cu:5: a kernel that starts a kernel"));
  EXPECT_TRUE(has(rewritten("__global__ void f() {}\n"),
                  "kernel k: the source has none of this name (it has f)"));
  EXPECT_TRUE(has(rewritten("template <int n> __global__ void k() {}\n"), "it is a template"));
  EXPECT_TRUE(has(rewritten("__shared__ float s[4];\n__global__ void k(float* y) { s[0] = 1; }\n"),
                  "outside a function"));
}

std::string emitted(std::string_view text) {
  const auto block = parse_ptx(text, {"", "", "", ""});
  if (!block) return "error: " + block.error().what;
  std::string all;
  for (const PtxInstruction& one : block->instructions) {
    const auto statement = emit_ptx(one);
    all += statement ? *statement + "\n" : "error: " + statement.error().what + "\n";
  }
  return all;
}

TEST(Ptx, InstructionsBecomeCalls) {
  EXPECT_EQ(emitted("add.s32 %0, %1, 4;"),
            "ks::ptx::set(ks_a0, ks::ptx::add<ks::ptx::s32>(ks::ptx::as<ks::ptx::s32>(ks_a1), "
            "ks::ptx::as<ks::ptx::s32>(4)));\n");
  EXPECT_EQ(emitted("cp.async.cg.shared.global.L2::128B [%0], [%1+16], 16;"),
            "ks::ptx::copy_async(ks::ptx::shared(ks_a0, 0), ks::ptx::generic(ks_a1, 16), "
            "ks::ptx::u32(16), ks::ptx::u32(16));\n");
  EXPECT_EQ(emitted("@!p bar.sync 1, 64;"),
            "if (!ks::ptx::as<bool>(ks_v_p)) { ks::ptx::meet_barrier(ks::ptx::as<ks::ptx::u32>(1), "
            "ks::ptx::as<ks::ptx::u32>(64)); }\n");
}

TEST(Ptx, WhatIsUnknownIsNamed) {
  EXPECT_EQ(emitted("tcgen05.mma.cta_group::1 %0;"),
            "error: tcgen05.mma.cta_group::1 is not supported by check\n");
  EXPECT_EQ(emitted("add.s32 %0, %7, 4;"), "error: there is no operand 7");
  EXPECT_EQ(emitted("L: bra L;"), "error: jumps in assembly are not supported by check");
}

TEST(CudaHeaders, AreEmptyWhereNobodyGivesThem) {
  Case all;
  all.source =
      "#include <vector>\n#include <cuda_fp16.h>\n# include <cub/cub.cuh>\n#include "
      "\"mine.h\"\n#include <given.h>\n";
  all.headers = {{"given.h", ""}};
  const EmptyHeaders empty = empty_headers(all);
  EXPECT_EQ(empty.files.size(), 3u);
  EXPECT_EQ(empty.unknown, std::vector<std::string>{"cub/cub.cuh"});
}

TEST(CudaValues, NumbersAndStructs) {
  EXPECT_EQ(parse_value("n=16384")->integer, 16384);
  EXPECT_EQ(parse_value("f=true")->integer, 1);
  EXPECT_EQ(parse_value("e=1e-5")->number, 1e-5);
  const auto fields = parse_value("p={ptr:in,i32:-2,f16:1}")->fields;
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].buffer, "in");
  EXPECT_EQ(fields[1].bytes, std::string("\xfe\xff\xff\xff"));
  EXPECT_EQ(fields[2].bytes, std::string("\0\x3c", 2));
  for (const char* bad : {"n", "n=", "n=x", "p={}", "p={i32}", "p={x:1}"})
    EXPECT_FALSE(parse_value(bad)) << bad;
}

}  // namespace
}  // namespace ksearch::simt::cuda
