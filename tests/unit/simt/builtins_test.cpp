// Functions of Metal's library, each against a literal value from mathematics or the language's
// specification. One kernel computes them all; `want` is in the type's own precision.
#include <cmath>
#include <limits>

#include "kernel_test.h"

namespace ksearch::simt {
namespace {

struct Expected {
  const char* expression;
  double want;
  double relative = 0;  ///< error that is allowed
};

class Builtins : public KernelTest {
 protected:
  /// Evaluates each on one thread. `in` is 1, 2, 3, ... and not known to the compiler.
  void expect(const std::vector<Expected>& all, const std::string& before = "") {
    std::string source = before +
                         "kernel void k(device const float* in [[buffer(0)]],\n"
                         "              device float* y [[buffer(1)]]) {\n"
                         "  float one = in[0], two = in[1], three = in[2], four = in[3];\n";
    for (std::size_t i = 0; i < all.size(); ++i)
      source += "  y[" + std::to_string(i) + "] = float(" + all[i].expression + ");\n";
    source += "}\n";
    const Report report =
        run(make(source, 1, 1, {"in=f32:8:iota:1", "y=f32:" + std::to_string(all.size())}));
    EXPECT_EQ(kinds(report), std::vector<std::string>());
    const auto got = values<float>(report, "y");
    ASSERT_EQ(got.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::isnan(all[i].want))
        EXPECT_TRUE(std::isnan(got[i])) << all[i].expression << " is " << got[i];
      else if (std::isinf(all[i].want))
        EXPECT_EQ(got[i], all[i].want) << all[i].expression;
      else
        EXPECT_NEAR(got[i], all[i].want, std::abs(all[i].want) * all[i].relative)
            << all[i].expression;
    }
  }
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUlp = 0x1p-23;  // relative, of float

TEST_F(Builtins, ExponentialsAndLogarithms) {
  expect({{"exp(one)", 2.718281828459045, kUlp},
          {"exp2(three)", 8},
          {"exp10(two)", 100, 2 * kUlp},
          {"log(two)", 0.6931471805599453, kUlp},
          {"log2(four * two)", 3},
          {"log10(two)", 0.3010299956639812, kUlp},
          {"pow(two, three)", 8},
          {"pow(-two, three)", -8},
          {"powr(two, -one)", 0.5},
          {"powr(-two, three)", kNan},
          {"sqrt(two)", 1.4142135623730951, kUlp},
          {"rsqrt(four)", 0.5},
          {"fast::exp(one)", 2.718281828459045, kUlp},
          {"precise::sqrt(four)", 2},
          {"exp(-INFINITY)", 0},
          {"log(one - one)", -std::numeric_limits<double>::infinity()}});
}

TEST_F(Builtins, Trigonometry) {
  expect({{"sin(one)", 0.8414709848078965, kUlp},
          {"cos(one)", 0.5403023058681398, kUlp},
          {"tan(one)", 1.5574077246549023, 2 * kUlp},
          {"asin(one / two)", 0.5235987755982989, kUlp},
          {"acos(one / two)", 1.0471975511965979, kUlp},
          {"atan(one)", 0.7853981633974483, kUlp},
          {"atan2(one, -one)", 2.356194490192345, kUlp},
          {"sinh(one)", 1.1752011936438014, 2 * kUlp},
          {"cosh(one)", 1.5430806348152437, kUlp},
          {"tanh(one)", 0.7615941559557649, kUlp},
          {"asinh(one)", 0.881373587019543, kUlp},
          {"acosh(two)", 1.3169578969248166, kUlp},
          {"atanh(one / two)", 0.5493061443340549, 2 * kUlp},
          {"sinpi(one / two)", 1},
          {"cospi(one)", -1},
          {"tanpi(one / four)", 1, kUlp}});
}

TEST_F(Builtins, Rounding) {
  expect({{"floor(-one / two)", -1},
          {"ceil(one / two)", 1},
          {"trunc(-three / two)", -1},
          {"round(three / two)", 2},
          {"round(-one / two)", -1},
          {"rint(three / two)", 2},
          {"rint(one / two)", 0},
          {"fract(-one / four)", 0.75},
          {"fmod(-three, two)", -1},
          {"fdim(three, one)", 2},
          {"fdim(one, three)", 0},
          {"copysign(two, -one)", -2},
          {"nextafter(one, two)", 1 + 0x1p-23},
          {"divide(one, four)", 0.25},
          {"sign(-three)", -1},
          {"step(two, one)", 0},
          {"step(two, two)", 1},
          {"saturate(three)", 1},
          {"smoothstep(one - one, two, one)", 0.5},
          {"mix(one, three, one / four)", 1.5},
          {"ldexp(three, 2)", 12},
          {"fabs(-two)", 2}});
}

TEST_F(Builtins, FunctionsWithTwoResults) {
  expect({{"split(two + one / four)", 0.25},
          {"whole(two + one / four)", 2},
          {"mantissa(three)", 0.75},
          {"power(three)", 2},
          {"both(one)", 0.8414709848078965 + 0.5403023058681398, kUlp},
          {"ilogb(three * three)", 3}},
         "float split(float x) { float i; return modf(x, i); }\n"
         "float whole(float x) { float i; modf(x, i); return i; }\n"
         "float mantissa(float x) { int e; return frexp(x, e); }\n"
         "int power(float x) { int e; frexp(x, e); return e; }\n"
         "float both(float x) { float c; float s = sincos(x, c); return s + c; }\n");
}

TEST_F(Builtins, Choices) {
  expect({{"min(two, one)", 1},
          {"max(two, one)", 2},
          {"max(NAN, one)", 1},
          {"fmin(two, one)", 1},
          {"min3(two, one, three)", 1},
          {"max3(two, one, three)", 3},
          {"median3(two, one, three)", 2},
          {"fmedian3(two, one, three)", 2},
          {"clamp(four, one, three)", 3},
          {"clamp(-5, -3, 3)", -3},
          {"select(one, two, one < two)", 2},
          {"select(float2(one, two), float2(three, four), bool2(false, true)).y", 4},
          {"isnan(NAN)", 1},
          {"isinf(-INFINITY)", 1},
          {"isfinite(one)", 1},
          {"isnormal(one)", 1},
          {"signbit(-one)", 1},
          {"any(float2(one, two) > float2(one, one))", 1},
          {"all(float2(one, two) > float2(one, one))", 0},
          {"fma(two, three, one)", 7},
          {"abs(-3)", 3}});
}

TEST_F(Builtins, Integers) {
  expect({{"popcount(0xf0f0u)", 8},
          {"popcount(char(-1))", 8},
          {"clz(1u)", 31},
          {"clz(0u)", 32},
          {"clz(ushort(1))", 15},
          {"ctz(8u)", 3},
          {"ctz(0u)", 32},
          {"reverse_bits(uchar(1))", 128},
          {"mulhi(0x80000000u, 4u)", 2},
          {"mulhi(-1, 2)", -1},
          {"madhi(0x80000000u, 4u, 5u)", 7},
          {"mul24(3, -4)", -12},
          {"mad24(3, 4, 5)", 17},
          {"rotate(uchar(0x81), uchar(1))", 3},
          {"absdiff(3, -4)", 7},
          {"addsat(uchar(250), uchar(10))", 255},
          {"addsat(char(-100), char(-100))", -128},
          {"subsat(uchar(3), uchar(10))", 0},
          {"hadd(uchar(255), uchar(253))", 254},
          {"rhadd(uchar(255), uchar(254))", 255},
          {"extract_bits(0xabcdu, 4u, 8u)", 0xbc},
          {"extract_bits(int(0x80), 4u, 4u)", -8},
          {"insert_bits(0xffffu, 0u, 4u, 8u)", 0xf00f},
          {"min(-1, 1)", -1},
          {"max(2u, 3u)", 3}});
}

TEST_F(Builtins, VectorsAndSwizzles) {
  expect({{"float4(one, two, three, four).w", 4},
          {"float4(float2(one, two), three, four).y", 2},
          {"float3(one, float2(two, three)).z", 3},
          {"float4(two).z", 2},
          {"float4(one, two, three, four).wzyx.x", 4},
          {"float4(one, two, three, four).rgb.z", 3},
          {"swapped(float2(one, two)).x", 2},
          {"(float3(one, two, three) * two).z", 6},
          {"(two * float3(one, two, three) + one).y", 5},
          {"(int4(7, 8, 9, 10) / 2).w", 5},
          {"(uint2(1, 2) << 3).y", 16},
          {"(-float2(one, two)).y", -2},
          {"float4(half4(one, two, three, four)).w", 4},
          {"int2(float2(one, two) + one / two).y", 2},
          {"dot(float3(one, two, three), float3(four, two, one))", 11},
          {"length(float2(three, four))", 5},
          {"length_squared(float2(three, four))", 25},
          {"distance(float2(one, one), float2(four, one + four))", 5},
          {"normalize(float2(three, four)).y", 0.8, kUlp},
          {"cross(float3(one, 0, 0), float3(0, one, 0)).z", 1},
          {"float3(packed_float3(one, two, three)).z", 3},
          {"packed(three)", 3},
          {"sizeof(float3)", 16},
          {"sizeof(packed_float3)", 12},
          {"sizeof(half4)", 8},
          {"alignof(packed_half4)", 2},
          {"exp2(float2(one, two)).y", 4},
          {"max(float2(one, four), two).x", 2}},
         "float2 swapped(float2 v) { v.xy = v.yx; return v; }\n"
         "float packed(float x) { packed_float3 p; p = float3(0); p.y = x; return p[1]; }\n");
}

TEST_F(Builtins, Matrices) {
  expect({{"(float2x2(float2(one, two), float2(three, four)) * float2(one, one)).x", 4},
          {"(float2(one, one) * float2x2(float2(one, two), float2(three, four))).x", 3},
          {"(float2x2(1, 2, 3, 4) * float2x2(2.0f))[1].y", 8},
          {"transpose(float2x3(float3(1, 2, 3), float3(4, 5, 6)))[2].y", 6},
          {"(float2x2(1, 2, 3, 4) + float2x2(1.0f))[0].x", 2},
          {"(half4x4(2.0h) * 3.0h)[3].w", 6},
          {"float4x4(half4x4(2.0h))[1][1]", 2}});
}

TEST_F(Builtins, HalfAndBfloatRoundOnce) {
  expect({{"half(2048.0f) + half(one)", 2048},    // ties to even
          {"half(2048.0f) + half(three)", 2052},  // 2051 is a tie
          {"bfloat(256.0f) + bfloat(one)", 256},
          {"bfloat(256.0f) + bfloat(three)", 260},
          {"bfloat(one / three)", 0.333984375},
          {"half(one / three)", 0.333251953125},
          {"half(65504.0f) * half(two)", std::numeric_limits<double>::infinity()},
          {"exp(half(one))", 2.71875},
          {"1.5h + 2.0h", 3.5},
          {"0.5bf", 0.5},
          {"static_cast<half>(bfloat(two))", 2},
          {"one < two ? bfloat(two) : bfloat(0.0f)", 2}});
}

TEST_F(Builtins, BitsLimitsAndTraits) {
  expect({{"as_type<uint>(one) == 0x3f800000u", 1},
          {"as_type<float>(0x40000000u)", 2},
          {"as_type<half2>(0x3c004000u).x", 2},
          {"numeric_limits<int>::max() == 2147483647", 1},
          {"numeric_limits<char>::lowest()", -128},
          {"numeric_limits<uchar>::max()", 255},
          {"numeric_limits<half>::max()", 65504},
          {"numeric_limits<float>::epsilon()", 0x1p-23},
          {"numeric_limits<float>::infinity()", std::numeric_limits<double>::infinity()},
          {"is_same_v<float, float>", 1},
          {"is_floating_point_v<bfloat>", 1},
          {"is_integral_v<half>", 0},
          {"sizeof(conditional_t<true, char, int>)", 1},
          {"M_PI_F", 3.141592653589793, kUlp}});
}

TEST_F(Builtins, AtomicsReturnWhatWasThere) {
  const Case all = make(
      "kernel void k(device atomic_int* a [[buffer(0)]], device atomic_float* f [[buffer(1)]],\n"
      "              device int* y [[buffer(2)]]) {\n"
      "  y[0] = atomic_fetch_add_explicit(a, 5, memory_order_relaxed);\n"
      "  y[1] = atomic_fetch_sub_explicit(a, 1, memory_order_relaxed);\n"
      "  y[2] = atomic_fetch_max_explicit(a, 20, memory_order_relaxed);\n"
      "  y[3] = atomic_fetch_min_explicit(a, 6, memory_order_relaxed);\n"
      "  y[4] = atomic_fetch_and_explicit(a, 3, memory_order_relaxed);\n"
      "  y[5] = atomic_fetch_or_explicit(a, 8, memory_order_relaxed);\n"
      "  y[6] = atomic_fetch_xor_explicit(a, 2, memory_order_relaxed);\n"
      "  y[7] = atomic_exchange_explicit(a, 1, memory_order_relaxed);\n"
      "  int e = 2;\n"
      "  y[8] = atomic_compare_exchange_weak_explicit(a, &e, 9, memory_order_relaxed,\n"
      "                                               memory_order_relaxed);\n"
      "  y[9] = e;\n"
      "  y[10] = atomic_compare_exchange_weak_explicit(a, &e, 9, memory_order_relaxed,\n"
      "                                                memory_order_relaxed);\n"
      "  y[11] = atomic_load_explicit(a, memory_order_relaxed);\n"
      "  atomic_store_explicit(f, 1.5f, memory_order_relaxed);\n"
      "  y[12] = int(atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed) * 2);\n"
      "}\n",
      1, 1, {"a=i32:1:const:10", "f=f32:1", "y=i32:13"});
  const Report report = run(all);
  EXPECT_EQ(kinds(report), std::vector<std::string>());
  EXPECT_EQ(values<int>(report, "y"),
            (std::vector<int>{10, 15, 14, 20, 6, 2, 10, 8, 0, 1, 1, 9, 3}));
  EXPECT_EQ(values<float>(report, "f"), (std::vector<float>{2.5f}));
}

}  // namespace
}  // namespace ksearch::simt
