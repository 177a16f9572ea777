#include "simt/msl/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ksearch::simt::msl {
namespace {

std::string rewritten(std::string_view text, const std::string& kernel = "k",
                      std::map<int, std::string> constants = {}) {
  const auto result = rewrite(text, {{kernel}, std::move(constants)});
  return result ? result->source : "error: " + result.error().text();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kKernel = "kernel void k(device float* y [[buffer(0)]]) { y[0] = 1; }";

TEST(Tokens, WriteBackWhatWasRead) {
  const std::string text =
      "# 1 \"a.metal\"\nint a = 0x1F + 1.5e-3f; // no\n\"s \\\" s\" 'c' a->b::c <<= >> ... \n";
  EXPECT_EQ(source::write(source::tokenize(text)), text);
}

TEST(Tokens, FollowLineMarkers) {
  const Source source = source::tokenize("a\n# 7 \"b.metal\" 1\nb\n\nc");
  EXPECT_EQ(source.tokens[0].line, 1);
  EXPECT_EQ(source.tokens[2].place(), "b.metal:7");
  EXPECT_EQ(source.tokens[3].place(), "b.metal:9");
}

TEST(Rewrite, KeepsEveryLineWhereItWas) {
  const std::string text =
      "kernel void k(device float* y [[buffer(0)]],\n   uint i [[thread_position_in_grid]]) {\n"
      "  threadgroup float a[4],\n    b[8];\n  a[0] = simd_sum(y[i]);\n  MARK;\n}\n";
  const std::string out = rewritten(text);
  const auto line_of = [](const std::string& s, std::string_view what) {
    return std::count(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(s.find(what)), '\n');
  };
  EXPECT_EQ(line_of(out, "MARK"), line_of(text, "MARK"));
}

TEST(Rewrite, OverloadedTemplatesAreToldApartByTheirParameters) {
  const std::string text =
      "template <typename T> kernel void f(device T* y [[buffer(0)]]) { y[0] = 1; }\n"
      "template <typename T> kernel void f(device T* y [[buffer(0)]], constant T& a [[buffer(3)]]) "
      "{ y[0] = a; }\n"
      "template [[host_name(\"one\")]] kernel void f<float>(device float* y [[buffer(0)]]);\n"
      "template [[host_name(\"two\")]] kernel void f<float>(device float* y [[buffer(0)]], "
      "constant float& a [[buffer(3)]]);\n";
  const std::string one = rewritten(text, "one"), two = rewritten(text, "two");
  EXPECT_TRUE(has(one, "ks::Run<static_cast<void (*)( float * y )>(&f < float >)>")) << one;
  EXPECT_FALSE(has(one, "{ks::ArgumentKind::buffer, int(3)"));
  EXPECT_TRUE(has(two, "{ks::ArgumentKind::buffer, int(3), ks::Space::constant}")) << two;
}

TEST(Rewrite, ANameOfACastMayBeAnArrayOfPointersElsewhere) {
  const std::string out = rewritten(
      "kernel void k(device float* y [[buffer(0)]], constant bool& one [[buffer(1)]]) {\n"
      "  if (one) {\n    device float4* p = (device float4*)y;\n    p[1] = 1;\n"
      "    { device float4* p[2]; p[0] = 0; }\n    p[2] = 2;\n  } else {\n"
      "    device float4* p[8];\n    p[3] = (device float4*)y;\n    p[3][0] = 3;\n  }\n}\n");
  for (const char* checked : {"ks::ref(p + (1))", "ks::ref(p + (2))"})
    EXPECT_TRUE(has(out, checked));
  for (const char* as_is : {"* p[2];", "p[0] = 0", "* p[8];", "p[3] =", "p[3][0]"})
    EXPECT_TRUE(has(out, as_is)) << as_is;
}

TEST(Rewrite, GivesEachParameterItsPlace) {
  const std::string out = rewritten(
      "kernel void k(device float* a [[buffer(2)]], constant uint& n [[buffer(0)]], device int* "
      "b,\n"
      "  threadgroup float* t [[threadgroup(1)]], uint2 g [[threadgroup_position_in_grid]]) {}");
  EXPECT_TRUE(has(out, "{ks::ArgumentKind::buffer, int(2), ks::Space::device}"));
  EXPECT_TRUE(has(out, "{ks::ArgumentKind::buffer, int(0), ks::Space::constant}"));
  EXPECT_TRUE(has(out, "{ks::ArgumentKind::buffer, 1, ks::Space::device}"));
  EXPECT_TRUE(has(out, "{ks::ArgumentKind::group_memory, int(1), ks::Space::device}"));
  EXPECT_TRUE(has(out, "int(ks::Attribute::group_position)"));
}

TEST(Rewrite, AFunctionGivenTwiceForTwoSpacesIsThereOnce) {
  const std::string of =
      "* p) {\n  float s = 0;\n#pragma unroll\n  for (int i = 0; i < 4; ++i) s "
      "+= p[i];\n  return s;\n}\n";
  const std::string out =
      rewritten("float f(device float" + of + "float f(thread float" + of + kKernel);
  EXPECT_EQ(out.find("return s"), out.rfind("return s"));
  EXPECT_EQ(out.find("unroll"), out.rfind("unroll"));
  EXPECT_TRUE(has(out, "unroll"));
}

TEST(Rewrite, TakesBothFormsOfInstantiation) {
  const std::string text =
      "template <typename T, int N> [[kernel]] void f(device T* y [[buffer(0)]]) {}\n"
      "template [[host_name(\"one\")]] [[kernel]] decltype(f<float, 2>) f<float, 2>;\n"
      "template [[host_name(\"two\")]] [[kernel]] void f<half, 4>(device half* y [[buffer(0)]]);\n";
  EXPECT_TRUE(has(rewritten(text, "one"), "&ks::Run<&f < float , 2 >>::run"));
  EXPECT_TRUE(has(rewritten(text, "two"), "&ks::Run<&f < half , 4 >>::run"));
  EXPECT_TRUE(
      has(rewritten("template <typename T> [[kernel]] void g(device T* y [[buffer(0)]]) {}\n"
                    "template [[host_name(\"three\")]] [[kernel]] void g(device int* y "
                    "[[buffer(0)]]);\n",
                    "three"),
          "&ks::Run<static_cast<void (*)( int * y )>(&g)>::run"));
  EXPECT_FALSE(has(rewritten(text, "one"), "half"));  // what is not asked for is not compiled
}

TEST(Rewrite, NamesTheKernelsThereAre) {
  EXPECT_EQ(rewritten(kKernel, "q"),
            "error: kernel q: the source has none of this name (it has k)");
}

TEST(Rewrite, BindsFunctionConstants) {
  const std::string text = std::string(
                               "constant int n [[function_constant(3)]];\n"
                               "constant bool m [[function_constant(4)]];\n"
                               "int f() { return is_function_constant_defined(n) + "
                               "is_function_constant_defined(m); }\n") +
                           kKernel;
  const std::string out = rewritten(text, "k", {{3, "64"}});
  EXPECT_TRUE(has(out, "static const int n  = (64);")) << out;
  EXPECT_TRUE(has(out, "static const bool m  = {};")) << out;
  EXPECT_TRUE(has(out, "return true"));
  EXPECT_TRUE(has(out, "+ false"));
}

TEST(Rewrite, AParameterMayHangOnAFunctionConstant) {
  const std::string out = rewritten(
      "constant bool m [[function_constant(0)]];\n"
      "kernel void k(device float* y [[buffer(0), function_constant(m)]]) {}");
  EXPECT_TRUE(has(out, "(m) ? ks::Parameter{ks::ArgumentKind::buffer, int(0)"));
}

TEST(Rewrite, PlacesThreadgroupVariables) {
  const std::string out = rewritten("kernel void k() { threadgroup vec<float, 4> a[2][8], b; }");
  EXPECT_TRUE(has(out, "auto& a = *ks::group_array<a__ks>([] {}, \"a\")")) << out;
  EXPECT_TRUE(has(out, "a__ks[2][8]"));
  EXPECT_TRUE(has(out, "auto& b = *ks::group_array<b__ks>"));
}

TEST(Rewrite, APointerToThreadgroupMemoryIsAPointer) {
  const std::string out = rewritten("kernel void k() { threadgroup float* p = nullptr; }");
  EXPECT_FALSE(has(out, "group_array"));
  EXPECT_FALSE(has(out, "threadgroup float"));
}

TEST(Rewrite, AThreadgroupInitialiserWritesNothing) {
  const std::string out = rewritten("kernel void k() { threadgroup int a[2] = {1, 2}, b; }");
  EXPECT_TRUE(has(out, "group_array<a__ks>"));
  EXPECT_TRUE(has(out, "group_array<b__ks>"));
  EXPECT_FALSE(has(out, "{1, 2}"));
}

TEST(Rewrite, RefusesTexturesWithTheirLine) {
  EXPECT_TRUE(
      has(rewritten("# 1 \"a.metal\"\nkernel void k(\n  texture2d<float> t [[texture(0)]]) {}"),
          "error: a.metal:2: texture2d is not supported"));
}

TEST(Rewrite, NumbersCallsThatWait) {
  const std::string out = rewritten(
      "float total(float v) { return metal::simd_sum(simd_max(v)); }\n"
      "kernel void k(device float* y [[buffer(0)]]) { y[0] = total(1); threadgroup_barrier(f); }");
  EXPECT_TRUE(has(out,
                  "return  ks::at(1u, [&]() KS_IN_LINE -> decltype(auto) { return metal::simd_sum( "
                  "ks::at(2u") ||
              has(out,
                  "return ks::at(1u, [&]() KS_IN_LINE -> decltype(auto) { return "
                  "metal::simd_sum(ks::at(2u"))
      << out;
  EXPECT_TRUE(has(out, "= ks::at(3u, [&]() KS_IN_LINE -> decltype(auto) { return total(1); })"))
      << out;
  EXPECT_TRUE(has(out, "ks::at(4u")) << out;
}

TEST(Rewrite, SpellsAddressSpacesAndLiterals) {
  const std::string out = rewritten(
      "constant float table[2] = {1, 2};\n"
      "struct S { float f(device const float* p) const device { return p[0]; } };\n"
      "half h = 1.5h; bfloat b = 2bf; float x = static_cast<float>(h);\n" +
      std::string(kKernel));
  EXPECT_TRUE(has(out, "const float table[2]"));
  EXPECT_TRUE(has(out, "half(1.5f)"));
  EXPECT_TRUE(has(out, "bfloat(2.0f)"));
  EXPECT_TRUE(has(rewritten("float x = .5 + 1e3 + 2. + 3;" + std::string(kKernel)),
                  ".5f + 1e3f + 2.f + 3;"));
  EXPECT_TRUE(has(out, "ks::cast<float>(h)"));
  EXPECT_FALSE(has(out,
                   "device"
                   " const"));
}

TEST(Rewrite, DropsWhatDiffersInAddressSpacesAlone) {
  const std::string out = rewritten(
      "template <typename T> struct C {\n"
      "  C(T x) thread : a(x), b{1} {}\n  C(T x) device : a(x), b{2} {}\n"
      "  T get() const constant { return 3; }\n  T get() const device { return 4; }\n"
      "  T of(device const T* p) { return 5; }\n  T of(constant T* p) { return 6; }\n"
      "  T of(threadgroup const T* p) { return 7; }\n};\n" +
      std::string(kKernel));
  for (const char* kept : {"b{1}", "return 3", "return 5"}) EXPECT_TRUE(has(out, kept)) << out;
  for (const char* gone : {"b{2}", "return 4", "return 7"}) EXPECT_FALSE(has(out, gone)) << out;
  EXPECT_FALSE(has(out, "const const"));
}

TEST(Rewrite, TakesAnythingWithoutCrashing) {
  const std::string text = std::string(
                               "# 1 \"a\"\ntemplate [[host_name(\"x\")]] [[kernel]] "
                               "decltype(f<1>) f<1>;\nconstant int n "
                               "[[function_constant(0)]]; threadgroup float a[2];\n") +
                           kKernel;
  for (std::size_t n = 0; n < text.size(); ++n) rewritten(text.substr(0, n));
  for (std::size_t n = 0; n < text.size(); ++n) rewritten(text.substr(n));
}

/// The numbers of the places of a function's lines.
int places(const std::string& lines) {
  const std::string out = rewritten(
      "struct Tile { float load(int i) const { return simd_sum(1.0f); }\n"
      "  float operator()(float x) const { return simd_max(x); } };\n"
      "Tile make();\nkernel void k(device float* y [[buffer(0)]]) {\n" +
      lines + "\n}");
  int count = 0;
  const std::size_t kernel = out.find("void k(");
  for (std::size_t at = out.find("ks::at(", kernel); at != std::string::npos;
       at = out.find("ks::at(", at + 1))
    ++count;
  return count;
}

TEST(Meetings, CallsThroughObjectsAreNumbered) {
  EXPECT_EQ(
      places("  Tile a, b[2]; Tile* p = &a;\n  y[0] = a.load(1) + b[1].load(2) + p->load(3);"), 3);
  EXPECT_EQ(places("  y[0] = make().load(1);"), 1);
  EXPECT_EQ(places("  Tile a; y[0] = a(1.0f) + (&a)->load(2);"), 2);
  EXPECT_EQ(places("  Tile a; y[0] = a.template load<4>(1);"), 1);
}

TEST(Meetings, LambdasAndProductsAreNumbered) {
  EXPECT_EQ(places("  const auto f = [&](float x) { return simd_sum(x); };\n  y[0] = f(1) + f(2);"),
            3);
  EXPECT_EQ(places("  simdgroup_float8x8 a, b, c[2];\n  a = a * b;\n  b = c[1] * a * b;\n"
                   "  y[0] = y[1] * y[2];"),
            2);
}

}  // namespace
}  // namespace ksearch::simt::msl
