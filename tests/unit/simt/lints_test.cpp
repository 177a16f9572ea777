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
}

TEST(Lint, IncludedFilesAreNotLooked) {
  EXPECT_EQ(lints("# 1 \"other.h\"\ndouble x;\n").size(), 0u);
}

}  // namespace
}  // namespace ksearch::simt::msl
