// Functions and PTX instructions of CUDA with literal expected values: many in one kernel, which
// runs one thread, or one warp in which lane l sees its own values.
#include "cuda_test.h"

namespace ksearch::simt {
namespace {

struct Expected {
  const char* expression;
  double value;
};

class CudaBuiltins : public CudaTest {
 protected:
  static constexpr const char* kHead =
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cstdint>\n"
      "#include <cuda_pipeline.h>\n#include <cooperative_groups.h>\n";

  /// out[i] = expression i, as double.
  void each(const std::vector<Expected>& all, const std::string& before = "",
            double tolerance = 0) {
    std::string source =
        kHead + before + "\n__global__ void k(double* out, float one, int two) {\n";
    std::vector<double> want;
    for (const Expected& one : all) {
      source += "  out[" + std::to_string(want.size()) + "] = double(" + one.expression + ");\n";
      want.push_back(one.value);
    }
    source += "}\n";
    const Case all_cases = cuda_case(
        source,
        {"k", {1}, {1}, {"out=float64:" + std::to_string(want.size())}, {"one=1.0", "two=2"}});
    for (const int optimize : {0, 2}) {
      CheckOptions options;
      options.optimize = optimize;
      const Report report = run(all_cases, options);
      EXPECT_EQ(told(report), "");
      const auto got = values<double>(report, "out");
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_LE(std::abs(got[i] - want[i]), tolerance * (1 + std::abs(want[i])))
            << all[i].expression << " gives " << got[i];
    }
  }

  /// For each of `bodies`, statements that set `unsigned r` of lane `lane`: out[i][lane].
  std::vector<std::vector<std::uint32_t>> lanes(const std::vector<std::string>& bodies,
                                                const std::string& before = "") {
    std::string source = kHead + before +
                         "\n__global__ void k(unsigned* out) {\n"
                         "  __shared__ __align__(16) unsigned char room[4096];\n"
                         "  const unsigned lane = threadIdx.x;\n"
                         "  for (int i = lane; i < 4096; i += 32) room[i] = (unsigned char)i;\n"
                         "  __syncthreads();\n"
                         "  const unsigned base = (unsigned)__cvta_generic_to_shared(room);\n";
    for (std::size_t i = 0; i < bodies.size(); ++i)
      source += "  { unsigned r = 0; " + bodies[i] + " out[" + std::to_string(32 * i) +
                " + lane] = r; }\n";
    source += "}\n";
    const Report report =
        run(cuda_case(source, {"k", {1}, {32}, {"out=u32:" + std::to_string(32 * bodies.size())}}));
    EXPECT_EQ(told(report), "");
    const auto flat = values<std::uint32_t>(report, "out");
    std::vector<std::vector<std::uint32_t>> all(bodies.size());
    for (std::size_t i = 0; i < flat.size() && i / 32 < all.size(); ++i)
      all[i / 32].push_back(flat[i]);
    for (auto& one : all) one.resize(32);
    return all;
  }
};

TEST_F(CudaBuiltins, Integers) {
  each({{"__popc(0xf0f0u)", 8},
        {"__popcll(0xffffffff00000000ull)", 32},
        {"__clz(1)", 31},
        {"__clz(0)", 32},
        {"__clzll(1)", 63},
        {"__ffs(8)", 4},
        {"__ffs(0)", 0},
        {"__brev(1u)", 2147483648.0},
        {"__byte_perm(0x33221100u, 0x77665544u, 0x6240)", 0x66224400},
        {"__byte_perm(0x80, 0, 0x8888)", 4294967295.0},
        {"__funnelshift_l(0x80000000u, 1u, 1)", 3},
        {"__funnelshift_r(0x2u, 1u, 1)", 2147483649.0},
        {"__mulhi(1 << 30, 8)", 2},
        {"__umulhi(0xffffffffu, 2u)", 1},
        {"__mul24(0x1000001, 3)", 3},
        {"__sad(3, -4, 1u)", 8},
        {"__hadd(3, 6)", 4},
        {"__rhadd(3, 6)", 5},
        {"__dp4a(0x01020304, 0x01010101, 5)", 15},
        {"__dp4a(int(0xff000000), 0x02000000, 0)", -2},
        {"__dp4a(0xff000000u, 0x02000000u, 0u)", 510},
        {"__dp2a_lo(0x00020003, 0x00000504, 0)", 22},
        {"__vadd4(0x01ff0203u, 0x01010101u)", 0x02000304},
        {"__vsub4(0x01000203u, 0x01010101u)", 0x00ff0102},
        {"__vsubss4(0x80000000u, 0x01000000u)", 2147483648.0},
        {"__vcmpeq4(0x01020304u, 0x01000300u)", 4278255360.0},
        {"__vmaxu4(0x01f00304u, 0x02010203u)", 0x02f00304},
        {"__vabsdiffu4(0x01050304u, 0x02010304u)", 0x01040000},
        {"min(-1, two)", -1},
        {"max(3u, 2u)", 3},
        {"abs(-7)", 7}});
}

TEST_F(CudaBuiltins, Floats) {
  each({{"__fdividef(3.0f, 2.0f)", 1.5},
        {"__fmaf_rn(2.0f, 3.0f, 1.0f)", 7},
        {"__fadd_rz(one, 0x1p-24f * 1.5f)", 1},
        {"__fadd_ru(one, 0x1p-30f)", 1.00000011920928955078125},
        {"__frcp_rn(4.0f)", 0.25},
        {"__fsqrt_rn(9.0f)", 3},
        {"__saturatef(1.5f)", 1},
        {"__float2int_rn(2.5f)", 2},
        {"__float2int_rz(-2.5f)", -2},
        {"__float2int_ru(2.1f)", 3},
        {"__float2int_rd(-2.1f)", -3},
        {"__float2int_rn(1e20f)", 2147483647},
        {"__float2uint_rz(-1.0f)", 0},
        {"__float_as_int(1.0f)", 0x3f800000},
        {"__int_as_float(0x40000000)", 2},
        {"__double2hiint(1.0)", 0x3ff00000},
        {"__hiloint2double(0x3ff00000, 0)", 1},
        {"copysignf(3.0f, -0.0f)", -3},
        {"fmaxf(NAN, 2.0f)", 2},
        {"isnan(NAN)", 1},
        {"truncf(-1.7f)", -1},
        {"roundf(2.5f)", 3},
        {"rintf(2.5f)", 2},
        {"ldexpf(3.0f, 4)", 48},
        {"std::min(2.0f, one)", 1},
        {"std::numeric_limits<float>::max() > 3e38f", 1},
        {"one * 0.1", 0.1},  // in double
        {"fma(2.0, 3.0, 4.0)", 10}});
  each({{"expf(one)", 2.718281828459045},
        {"__expf(2.0f)", 7.38905609893065},
        {"exp2f(0.5f)", 1.4142135623730951},
        {"logf(10.0f)", 2.302585092994046},
        {"__log2f(8.0f)", 3},
        {"rsqrtf(2.0f)", 0.7071067811865476},
        {"tanhf(0.5f)", 0.46211715726000975},
        {"erff(0.5f)", 0.5204998778130465},
        {"normcdff(1.0f)", 0.8413447460685429},
        {"powf(2.0f, 0.5f)", 1.4142135623730951},
        {"sinf(1.0f)", 0.8414709848078965},
        {"cospif(0.25f)", 0.7071067811865476},
        {"cbrtf(27.0f)", 3},
        {"hypotf(3.0f, 4.0f)", 5},
        {"atan2f(1.0f, 1.0f)", 0.7853981633974483},
        {"log1p(1e-10)", 1e-10},
        {"exp(1.0)", 2.718281828459045},
        {"frexpf(12.0f, &two)", 0.75}},
       "", 2e-7);
}

TEST_F(CudaBuiltins, HalfAndBfloat16) {
  each({{"__half2float(__float2half(1.0f + 0x1p-11f))", 1},
        {"__half2float(__float2half_ru(1.0f + 0x1p-11f))", 1.0009765625},
        {"__half2float(__float2half_rz(-1.0f - 0x1p-11f))", -1},
        {"float(half(65504.0f)) ", 65504},
        {"__half_as_ushort(__float2half(1.0f))", 0x3c00},
        {"__half2float(__ushort_as_half(0x4000))", 2},
        {"float(__hadd(half(1.5f), half(2.0f)))", 3.5},
        {"float(__hfma(half(2.0f), half(3.0f), half(1.0f)))", 7},
        {"float(half(3.0f) / half(2.0f))", 1.5},
        {"__hgt(half(3.0f), half(2.0f))", 1},
        {"float(__hmax(half(-1.0f), half(2.0f)))", 2},
        {"float(hexp2(half(3.0f)))", 8},
        {"float(hrcp(half(4.0f)))", 0.25},
        {"float(hsqrt(half(9.0f)))", 3},
        {"__half2int_rn(half(2.5f))", 2},
        {"float(__int2half_rn(7))", 7},
        {"__low2float(__floats2half2_rn(1.0f, 2.0f))", 1},
        {"__high2float(__hfma2(make_half2(1.0f, 2.0f), __float2half2_rn(3.0f), "
         "__half2half2(half(1.0f))))",
         7},
        {"__half22float2(__lowhigh2highlow(make_half2(1.0f, 2.0f))).x", 2},
        {"__hbeq2(make_half2(1.0f, 2.0f), make_half2(1.0f, 2.0f))", 1},
        {"__high2float(__heq2(make_half2(1.0f, 2.0f), make_half2(1.0f, 3.0f)))", 0},
        {"__low2float(h2exp2(make_half2(3.0f, 2.0f)))", 8},
        {"__bfloat162float(__float2bfloat16(1.0f + 0x1p-8f))", 1},
        {"__bfloat162float(__float2bfloat16(1.0f + 0x1p-7f))", 1.0078125},
        {"__bfloat16_as_ushort(__float2bfloat16(1.0f))", 0x3f80},
        {"float(__nv_bfloat16(3.0f) * __nv_bfloat16(2.0f))", 6},
        {"float(__hfma(__nv_bfloat16(2.0f), __nv_bfloat16(3.0f), __nv_bfloat16(1.0f)))", 7},
        {"__bfloat1622float2(__floats2bfloat162_rn(1.0f, 2.0f)).y", 2},
        {"float(hexp2(__nv_bfloat16(3.0f)))", 8},
        {"float(__low2bfloat16(__bfloat162bfloat162(__nv_bfloat16(5.0f))))", 5}});
}

/// asm with one output and these inputs, as a function.
std::string ptx(const char* name, const char* result, const char* parameters, const char* text) {
  return std::string("__device__ ") + result + " " + name + "(" + parameters + ") { " + result +
         " d; asm volatile(\"" + text + "); return d; }\n";
}

TEST_F(CudaBuiltins, PtxOfOneThread) {
  const std::string before =
      ptx("ex2", "float", "float a", "ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("lg2", "float", "float a", "lg2.approx.f32 %0, %1;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("rcp", "float", "float a", "rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("rsq", "float", "float a", "rsqrt.approx.f32 %0, %1;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("tanh_", "float", "float a", "tanh.approx.f32 %0, %1;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("prmt", "unsigned", "unsigned a, unsigned b",
          "prmt.b32 %0, %1, %2, 0x5410;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("lop", "unsigned", "unsigned a, unsigned b, unsigned c",
          "lop3.b32 %0, %1, %2, %3, 0xe2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c)") +
      ptx("bfe", "unsigned", "unsigned a", "bfe.u32 %0, %1, 4, 8;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("sbfe", "int", "int a", "bfe.s32 %0, %1, 4, 4;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("bfi", "unsigned", "unsigned a, unsigned b",
          "bfi.b32 %0, %1, %2, 8, 4;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("shf", "unsigned", "unsigned a, unsigned b",
          "shf.r.wrap.b32 %0, %1, %2, 8;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("shl", "unsigned", "unsigned a", "shl.b32 %0, %1, 40;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("mad", "int", "int a, int b, int c",
          "mad.lo.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c)") +
      ptx("wide", "unsigned long long", "unsigned a, unsigned b",
          "mul.wide.u32 %0, %1, %2;\" : \"=l\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("hi", "unsigned", "unsigned a, unsigned b",
          "mul.hi.u32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("fma_", "float", "float a, float b, float c",
          "fma.rn.f32 %0, %1, %2, %3;\" : \"=f\"(d) : \"f\"(a), \"f\"(b), \"f\"(c)") +
      ptx("pick", "unsigned", "unsigned a, unsigned b",
          "{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.b32 %0, 10, 20, p; }\" : \"=r\"(d) : "
          "\"r\"(a), \"r\"(b)") +
      ptx("guarded", "unsigned", "unsigned a",
          "{ .reg .pred p; mov.u32 %0, 1; setp.eq.u32 p, %1, 7; @p mov.u32 %0, 2; @!p add.u32 %0, "
          "%0, 4; }\" : \"=r\"(d) : \"r\"(a)") +
      ptx("to_f16x2", "unsigned", "float a, float b",
          "cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(a), \"f\"(b)") +
      ptx("to_bf16x2", "unsigned", "float a, float b",
          "cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(a), \"f\"(b)") +
      ptx("relu2", "unsigned", "float a, float b",
          "cvt.rn.relu.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(a), \"f\"(b)") +
      ptx("tf32", "unsigned", "float a", "cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(d) : \"f\"(a)") +
      ptx("from_f16", "float", "unsigned short a", "cvt.f32.f16 %0, %1;\" : \"=f\"(d) : \"h\"(a)") +
      ptx("to_int", "int", "float a", "cvt.rzi.s32.f32 %0, %1;\" : \"=r\"(d) : \"f\"(a)") +
      ptx("near_int", "int", "float a", "cvt.rni.s32.f32 %0, %1;\" : \"=r\"(d) : \"f\"(a)") +
      ptx("from_int", "float", "int a", "cvt.rn.f32.s32 %0, %1;\" : \"=f\"(d) : \"r\"(a)") +
      ptx("join", "unsigned", "unsigned short a, unsigned short b",
          "mov.b32 %0, {%1, %2};\" : \"=r\"(d) : \"h\"(a), \"h\"(b)") +
      ptx("upper", "unsigned short", "unsigned a",
          "{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b16 %0, high; }\" : \"=h\"(d) : "
          "\"r\"(a)") +
      ptx("add2", "unsigned", "unsigned a, unsigned b",
          "add.f16x2 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("fma2", "unsigned", "unsigned a, unsigned b, unsigned c",
          "fma.rn.bf16x2 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c)") +
      ptx("max2", "unsigned", "unsigned a, unsigned b",
          "max.f16x2 %0, %1, %2;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("popc_", "unsigned", "unsigned a", "popc.b32 %0, %1;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("clz_", "unsigned", "unsigned a", "clz.b32 %0, %1;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("brev_", "unsigned", "unsigned a", "brev.b32 %0, %1;\" : \"=r\"(d) : \"r\"(a)") +
      ptx("dot", "int", "int a, int b",
          "dp4a.s32.s32 %0, %1, %2, 1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b)") +
      ptx("literal", "float", "float a", "add.f32 %0, %1, 0f3F800000;\" : \"=f\"(d) : \"f\"(a)") +
      ptx("comment", "int", "int a", "add.s32 %0, %1, -3; // a comment\" : \"=r\"(d) : \"r\"(a)");
  each({{"ex2(3.0f)", 8},
        {"lg2(8.0f)", 3},
        {"rcp(4.0f)", 0.25},
        {"rsq(4.0f)", 0.5},
        {"tanh_(0.0f)", 0},
        {"prmt(0x44332211u, 0x88776655u)", 0x66552211},
        {"lop(0xf0u, 0xccu, 0xaau)", 0xe2},
        {"bfe(0xabcdu)", 0xbc},
        {"sbfe(0xf0)", -1},
        {"bfi(0xfu, 0u)", 0xf00},
        {"shf(0x11223344u, 0x55667788u)", 2282824243.0},
        {"shl(1u)", 0},
        {"mad(3, 4, 5)", 17},
        {"wide(0x80000000u, 4u)", 8589934592.0},
        {"hi(0x80000000u, 4u)", 2},
        {"fma_(2.0f, 3.0f, 4.0f)", 10},
        {"pick(1, 2)", 10},
        {"pick(2, 1)", 20},
        {"guarded(7)", 2},
        {"guarded(8)", 5},
        {"to_f16x2(2.0f, 1.0f)", 0x40003c00},
        {"to_bf16x2(2.0f, 1.0f)", 0x40003f80},
        {"relu2(-2.0f, 1.0f)", 0x3c00},
        {"tf32(1.0f + 0x1p-11f)", 0x3f802000},
        {"from_f16(0x4000)", 2},
        {"to_int(-2.7f)", -2},
        {"near_int(2.5f)", 2},
        {"from_int(-3)", -3},
        {"join(0x1122, 0x3344)", 0x33441122},
        {"upper(0x33441122u)", 0x3344},
        {"add2(0x3c003c00u, 0x40003c00u)", 0x42004000},
        {"fma2(0x40004000u, 0x40404040u, 0x3f803f80u)", 0x40e040e0},
        {"max2(0x3c004000u, 0x40003c00u)", 0x40004000},
        {"popc_(0xffu)", 8},
        {"clz_(1u)", 31},
        {"brev_(1u)", 2147483648.0},
        {"dot(0x01010101, 0x01020304)", 11},
        {"literal(2.0f)", 3},
        {"comment(5)", 2}},
       before);
}

TEST_F(CudaBuiltins, WarpsOfLanes) {
  const auto got = lanes({
      "r = __shfl_sync(~0u, lane, 5);",
      "r = __shfl_sync(~0u, lane, 9, 8);",
      "r = __shfl_up_sync(~0u, lane, 2);",
      "r = __shfl_down_sync(~0u, lane, 3, 16);",
      "r = __shfl_xor_sync(~0u, lane, 1);",
      "r = __ballot_sync(~0u, lane % 2);",
      "r = __any_sync(~0u, lane == 3) + 2 * __all_sync(~0u, lane < 31);",
      "r = __reduce_add_sync(~0u, lane);",
      "r = __reduce_max_sync(~0u, lane) + __reduce_min_sync(~0u, lane + 1);",
      "r = __match_any_sync(~0u, lane / 16);",
      "r = __activemask();",
      "if (lane < 7) r = __shfl_sync(0x7fu, lane, 6); else r = __shfl_sync(0xffffff80u, lane, 31);",
      "asm volatile(\"shfl.sync.bfly.b32 %0, %1, 2, 0x1f, 0xffffffff;\" : \"=r\"(r) : "
      "\"r\"(lane));",
      "asm volatile(\"{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, 1, 0, 0xffffffff; @!p mov.b32 %0, "
      "99; }\" : \"=r\"(r) : \"r\"(lane));",
      "asm volatile(\"shfl.sync.idx.b32 %0, %1, 1, 0x181f, 0xffffffff;\" : \"=r\"(r) : "
      "\"r\"(lane));",
      "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(r));",
      "asm volatile(\"{ .reg .pred p; setp.gt.u32 p, %1, 15; vote.sync.ballot.b32 %0, p, "
      "0xffffffff; }\" : \"=r\"(r) : \"r\"(lane));",
      "asm volatile(\"redux.sync.add.u32 %0, %1, 0xffffffff;\" : \"=r\"(r) : \"r\"(lane));",
      "asm volatile(\"mov.u32 %0, %%lanemask_lt;\" : \"=r\"(r));",
      "asm volatile(\"bar.sync 1, 32;\"); r = 1;",
      "asm volatile(\"ld.shared.v2.b32 {%0, %1}, [%2+8];\" : \"=r\"(r), \"=r\"(r) : \"r\"(base)); "
      "r >>= 24;",
      "asm volatile(\"ld.shared.u8 %0, [%1];\" : \"=r\"(r) : \"r\"(base + lane));",
  });
  const auto all = [&](std::size_t i, auto want) {
    for (std::uint32_t l = 0; l < 32; ++l)
      EXPECT_EQ(got[i][l], static_cast<std::uint32_t>(want(l))) << i << " lane " << l;
  };
  all(0, [](auto) { return 5; });
  all(1, [](auto l) { return l / 8 * 8 + 1; });
  all(2, [](auto l) { return l < 2 ? l : l - 2; });
  all(3, [](auto l) { return l % 16 < 13 ? l + 3 : l; });
  all(4, [](auto l) { return l ^ 1; });
  all(5, [](auto) { return 0xaaaaaaaa; });
  all(6, [](auto) { return 1; });
  all(7, [](auto) { return 496; });
  all(8, [](auto) { return 32; });
  all(9, [](auto l) { return l < 16 ? 0xffffu : 0xffff0000u; });
  all(10, [](auto) { return ~0u; });
  all(11, [](auto l) { return l < 7 ? 6 : 31; });
  all(12, [](auto l) { return l ^ 2; });
  all(13, [](auto l) { return l == 0 ? 99 : l - 1; });
  all(14, [](auto l) { return l / 8 * 8 + 1; });
  all(15, [](auto l) { return l; });
  all(16, [](auto) { return 0xffff0000u; });
  all(17, [](auto) { return 496; });
  all(18, [](auto l) { return (1u << l) - 1; });
  all(19, [](auto) { return 1; });
  all(20, [](auto) { return 15; });
  all(21, [](auto l) { return l; });
}

TEST_F(CudaBuiltins, LdmatrixHasTheDocumentedLayout) {
  // Row r of matrix m is 16 bytes at 16 (8 m + r): bytes 16 (8 m + r) + j, modulo 256.
  const auto got =
      lanes({"asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(r) : "
             "\"r\"(base + 16 * (lane % 8)));",
             "unsigned a; asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, "
             "[%2];\" : \"=r\"(a), \"=r\"(r) : \"r\"(base + 16 * (lane % 16)));",
             "unsigned a, b, c; asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, "
             "%2, %3}, [%4];\" : \"=r\"(a), \"=r\"(b), \"=r\"(r), \"=r\"(c) : \"r\"(base + 16 * "
             "(lane % 8)));",
             "asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];\" : "
             "\"=r\"(r) : \"r\"(base + 16 * (lane % 8)));",
             "__syncwarp(); asm volatile(\"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};\" "
             ":: \"r\"(base + 1024 + 16 * (lane % 8)), \"r\"(lane)); __syncwarp(); "
             "r = room[1024 + 4 * lane];"});
  const auto byte = [](std::uint32_t at) { return at & 0xffu; };
  for (std::uint32_t l = 0; l < 32; ++l) {
    const std::uint32_t at = 16 * (l / 4) + 4 * (l % 4);
    const auto word = [&](std::uint32_t from) {
      return byte(from) | byte(from + 1) << 8 | byte(from + 2) << 16 | byte(from + 3) << 24;
    };
    EXPECT_EQ(got[0][l], word(at)) << l;
    EXPECT_EQ(got[1][l], word(at + 128)) << l;
    EXPECT_EQ(got[2][l], word(at)) << l;
    const std::uint32_t low = 16 * (2 * (l % 4)) + 2 * (l / 4);
    EXPECT_EQ(got[3][l],
              byte(low) | byte(low + 1) << 8 | byte(low + 16) << 16 | byte(low + 17) << 24)
        << l;
    EXPECT_EQ(got[4][l], l) << l;
  }
}

TEST_F(CudaBuiltins, MmaOfIntegersAndHalfSums) {
  const auto got = lanes(
      {"int d[4]; asm volatile(\"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, "
       "{%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};\" : \"=r\"(d[0]), \"=r\"(d[1]), \"=r\"(d[2]), "
       "\"=r\"(d[3]) : \"r\"(0x01010101), \"r\"(0x02020202), \"r\"(0x01010101), \"r\"(0x02020202), "
       "\"r\"(0x01010101), \"r\"(0x01010101 * int(lane / 4)), \"r\"(5)); r = d[lane % 4];",
       // A is ones, B column n is n: every element of column n is 16 n.
       "unsigned d0, d1, one = 0x3c003c00u; const __half h = __int2half_rn(lane / 4); "
       "const unsigned b = __half_as_ushort(h) * 0x10001u; "
       "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, "
       "{%3,%3}, {%4,%4};\" : \"=r\"(d0), \"=r\"(d1) : \"r\"(one), \"r\"(b), \"r\"(0)); r = d0;"});
  for (std::uint32_t l = 0; l < 32; ++l) {
    // Column n: 16 ones and 16 times n, rows from 8 on twice that.
    const std::uint32_t column = 2 * (l % 4) + l % 2, row = l % 4 >= 2 ? 2 : 1;
    EXPECT_EQ(got[0][l], 5 + row * (16 + 16 * column)) << l;
    const auto half_of = [](std::uint32_t n) -> std::uint32_t {
      return kernel::half_from_float(16.0f * static_cast<float>(n));
    };
    EXPECT_EQ(got[1][l], half_of(2 * (l % 4)) | half_of(2 * (l % 4) + 1) << 16) << l;
  }
}

TEST_F(CudaBuiltins, AtomicsAndMemoryInPtx) {
  const std::string source =
      std::string(kHead) +
      "__global__ void k(unsigned* n, float* f, double* d, __half2* h, unsigned* old) {\n"
      "  atomicAdd(n, 1u); atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(h, "
      "__floats2half2_rn(1, 2));\n"
      "  atomicMax(n + 1, threadIdx.x); atomicMin(n + 2, threadIdx.x); atomicOr(n + 3, 1u << "
      "threadIdx.x);\n"
      "  atomicAnd(n + 4, ~(1u << threadIdx.x)); atomicXor(n + 5, 1u); atomicInc(n + 6, 9); "
      "atomicDec(n + 7, 9);\n"
      "  if (threadIdx.x == 0) { old[0] = atomicCAS(n + 8, 7u, 8u); old[1] = atomicExch(n + 9, "
      "3u); }\n"
      "  asm volatile(\"red.global.add.u32 [%0], 2;\" :: \"l\"(n + 10));\n"
      "  if (threadIdx.x == 1) asm volatile(\"atom.global.add.u32 %0, [%1], %2;\" : \"=r\"(old[2]) "
      ": \"l\"(n + 11), \"r\"(4));\n"
      "  if (threadIdx.x == 2) asm volatile(\"st.global.v2.u32 [%0], {%1, 6};\" :: \"l\"(n + 12), "
      "\"r\"(5));\n"
      "  if (threadIdx.x == 3) asm volatile(\"{ .reg .u32 t; ld.global.nc.L1::no_allocate.u32 t, "
      "[%0]; st.global.u32 [%0+4], t; }\" :: \"l\"(n + 14));\n"
      "  while (atomicCAS(n + 16, 0u, 1u) != 0) {}\n  n[17] += 1; __threadfence(); atomicExch(n + "
      "16, 0u);\n"
      "}\n";
  const Report report =
      run(cuda_case(source, {"k",
                             {1},
                             {32},
                             {"n=u32:18:ints:0:0:99:0:4294967295:0:0:0:7:0:0:10:0:0:42:0:0:0:inout",
                              "f=f32:1:const:0:inout", "d=float64:1:const:0:inout",
                              "h=f16:2:const:0:inout", "old=u32:3"}}));
  EXPECT_EQ(told(report), "");
  const auto n = values<std::uint32_t>(report, "n");
  EXPECT_EQ(n, (std::vector<std::uint32_t>{32, 31, 0, ~0u, 0, 0, 2, 8, 8, 3, 64, 14, 5, 6, 42, 42,
                                           0, 32}));
  EXPECT_EQ(values<std::uint32_t>(report, "old"), (std::vector<std::uint32_t>{7, 0, 10}));
  EXPECT_EQ(values<float>(report, "f").at(0), 16);
  EXPECT_EQ(values<double>(report, "d").at(0), 8);
  EXPECT_EQ(values<std::uint16_t>(report, "h"), (std::vector<std::uint16_t>{0x5000, 0x5400}));
}

TEST_F(CudaBuiltins, WhatIsNotThereIsNamedWithItsLine) {
  const auto told_of = [&](const std::string& body) {
    return error(cuda_case("__global__ void k(float* y) {\n" + body + "\n}\n",
                           {"k", {1}, {1}, {"y=f32:1"}}));
  };
  const auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(told_of("asm volatile(\"wgmma.fence.sync.aligned;\");"),
      "kernel.cu:2: wgmma.fence.sync.aligned is not supported");
  has(told_of("asm volatile(\"cp.async.bulk.commit_group;\");"),
      "kernel.cu:2: cp.async.bulk.commit_group is not supported");
  has(told_of("asm volatile(\"mbarrier.init.shared.b64 [%0], 1;\" :: \"r\"(0));"),
      "kernel.cu:2: mbarrier.init.shared.b64 is not supported");
  has(told_of("y[0] = tex1Dfetch(y, 0);"), "textures are not supported");
  has(told_of("k<<<1, 1>>>(y);"), "kernel.cu:2: a kernel that starts a kernel is not supported");
}

}  // namespace
}  // namespace ksearch::simt
