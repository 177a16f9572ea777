#include "simt/msl/lints.h"

#include <gtest/gtest.h>

namespace ksearch::simt::msl {
namespace {

std::vector<std::string> lints(const std::string& text) {
  Case all;
  all.file = "k.metal";
  return lint(all, "# 1 \"k.metal\"\n" + text);
}

TEST(Lint, ABarrierThatOrdersNothing) {
  EXPECT_EQ(lints("void f() {\n  threadgroup_barrier(mem_flags::mem_none);\n}"),
            std::vector<std::string>{"k.metal:2: this barrier orders no memory (mem_none): what is "
                                     "written before it may not be seen after it"});
}

TEST(Lint, AParameterWithoutAddressSpace) {
  const auto said = lints("float f(device const float* a,\n  float* b) { return a[0] + b[0]; }");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].starts_with("k.metal:2: a parameter of f has no address space"));
}

TEST(Lint, Double) { EXPECT_EQ(lints("float f(float x) { return double(x); }").size(), 1u); }

TEST(Lint, WhatIsRightIsNot) {
  EXPECT_EQ(lints("template <typename T>\nvoid f(device T* a, constant uint& n, thread T& x) {\n"
                  "  threadgroup_barrier(mem_flags::mem_threadgroup); x = a[n] * 2;\n}")
                .size(),
            0u);
  EXPECT_EQ(lints("void f(constant array<ulong2, 3>& strides) {}").size(), 0u);
}

TEST(Lint, IncludedFilesAreNotLooked) {
  EXPECT_EQ(lints("# 1 \"other.h\"\ndouble x;\n").size(), 0u);
}

/// Of the lines of a function that has a device pointer `x` and a threadgroup pointer `t`.
std::vector<std::string> in_function(const std::string& lines) {
  return lints(
      "struct Pair { float a; };\nfloat sum(threadgroup const float* p) { return p[0]; }\n"
      "float both(device const float* p) { return p[0]; }\n"
      "float both(threadgroup const float* p) { return p[0]; }\n"
      "void f(device float* x, threadgroup float* t, constant float& c, uint n) {\n" +
      lines + "\n}");
}

TEST(AddressSpaces, APointerNamesOne) {
  EXPECT_EQ(in_function("  float* p = x + 1;"),
            std::vector<std::string>{
                "k.metal:6: p names no address space (device, constant, threadgroup, thread): "
                "Apple's compiler refuses it"});
  EXPECT_EQ(in_function("  const Pair& p = *(device Pair*)x;").size(), 1u);
  EXPECT_EQ(in_function("  y = *(float4*)x;").size(), 1u);
  EXPECT_EQ(in_function("  y = *reinterpret_cast<uint*>(x);").size(), 1u);
  EXPECT_EQ(lints("struct S {\n  float* p;\n};").size(), 1u);
}

TEST(AddressSpaces, OneDoesNotBecomeAnother) {
  EXPECT_EQ(
      in_function("  threadgroup float* p = x + n;"),
      std::vector<std::string>{"k.metal:6: a pointer to threadgroup memory gets one to device: "
                               "Apple's compiler refuses it"});
  EXPECT_EQ(in_function("  device float* p = x;\n  p = t;").size(), 1u);
  EXPECT_EQ(in_function("  y = *(threadgroup float*)x;").size(), 1u);
  EXPECT_EQ(in_function("  float own[4];\n  device float* p = own;").size(), 1u);
  EXPECT_EQ(
      in_function("  y = sum(x);"),
      std::vector<std::string>{"k.metal:6: argument 1 of sum points to device memory, which no "
                               "sum takes: Apple's compiler refuses it"});
}

TEST(AddressSpaces, WhatIsRightIsNotSaid) {
  EXPECT_EQ(in_function("  device float* p = x + 1;\n  threadgroup float* q = t;\n"
                        "  device float4* v = (device float4*)p;\n  thread float* r = nullptr;\n"
                        "  const device uint* w = reinterpret_cast<const device uint*>(x + n);\n"
                        "  auto a = x;\n  auto& b = x[0];\n  float own[4];\n  r = own + 1;\n"
                        "  y = both(x) + both(t) + sum(t) + (n * n) + (float)(n) + c;\n"
                        "  p = n > 2 ? x : p;\n  n * n;"),
            std::vector<std::string>());
}

TEST(Lint, AFloatForABfloat) {
  EXPECT_EQ(lints("void f() {\n  bfloat x = 1.5f;\n}").size(), 1u);
  EXPECT_EQ(lints("void f() {\n  bfloat x = bfloat(1.5f), y = 1.5bf;\n  float z = 1.5f;\n}").size(),
            0u);
}

TEST(Lint, NamesThatMlxFindsInsideOthers) {
  Case all;
  all.file = "b.metal";
  all.source = "uint i = thread_position_in_grid.x; // max_shape\ny[i] = x[i];";
  Buffer x{.name = "x", .shape = {64}}, y{.name = "y", .shape = {64}, .role = Role::out};
  all.buffers = {x, y};
  all.body = Body{{"x"}, {"y"}, {}, false, {}};
  EXPECT_EQ(lint(all, ""), std::vector<std::string>{
                               "b.metal: x_shape stands only inside another word or a comment; "
                               "MLX adds the parameter all the same"});
  all.source = "y[thread_position_in_grid.x] = x[0];";
  all.launches.push_back({.kernel = "b", .group_size = {8, 1, 1}});
  all.launches[0].threads = {8, 1, 1};
  const auto said = lint(all, "");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_TRUE(said[0].find("8 times as many, the size of a group") != std::string::npos) << said[0];
}

}  // namespace
}  // namespace ksearch::simt::msl
