#include "search/duplicate.h"

#include <gtest/gtest.h>

#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

TEST(NormalCode, CommentsAndSpacingGo) {
  EXPECT_EQ(normal_code("int  x = 1; // one\n/* two\n lines */ int\ty=x ;"), "int x=1;int y=x;");
  EXPECT_EQ(normal_code("a\r\n\r\n  b"), "a b");
}

TEST(NormalCode, WhatMattersStays) {
  EXPECT_NE(normal_code("a + +b"), normal_code("a ++b"));
  EXPECT_NE(normal_code("int xy"), normal_code("int x y"));
  EXPECT_EQ(normal_code("f(\"a  // b\")"), "f(\"a  // b\")");
  EXPECT_EQ(normal_code(R"(c = '"'; d = ' ';)"), R"(c='"';d=' ';)");
  EXPECT_EQ(normal_code("n = 1'000'000; /* x */ y"), "n=1'000'000;y");
  EXPECT_EQ(normal_code("s = R\"x(a  /* b */ )\" )x\"; // end"), "s=R\"x(a  /* b */ )\" )x\";");
}

TEST(NormalCode, DirectivesKeepTheirEnd) {
  EXPECT_EQ(normal_code("#define A 1\nint x;"), "#define A 1\nint x;");
  EXPECT_NE(normal_code("#define f(x) y\n"), normal_code("#define f (x) y\n"));
  EXPECT_EQ(normal_code("#define A \\\n 1\nB"), "#define A 1\nB");
}

TEST(NormalCode, TornSourcesAreNoTrouble) {
  const std::string text = "R\"x(a)x\" 'b' /* c */ \"d\" // e\n#f \\\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) normal_code(text.substr(0, cut));
}

bool same(const std::string& a, const std::string& b) {
  return normal_hash(program(a)) == normal_hash(program(b));
}

TEST(NormalHash, NamesThatAProgramMadeUpDoNotMatter) {
  const std::string one = R"(
    struct Tile { float row[8]; };
    inline float largest(const float* from, int count) {
      float top = from[0];
      for (int i = 1; i < count; ++i) top = fmaxf(top, from[i]);
      return top;
    }
    extern "C" void copy(const float* x, float* y, long n) { Tile t; y[0] = largest(x, n) + t.row[0]; })";
  const std::string two = R"(
    struct Block { float row[8]; };
    inline float max_of(const float* values, int n_values) {  // renamed throughout
      float best = values[0];
      for (int k = 1; k < n_values; ++k) best = fmaxf(best, values[k]);
      return best;
    }
    extern "C" void copy(const float* x, float* y, long n) { Block b; y[0] = max_of(x, n) + b.row[0]; })";
  EXPECT_TRUE(same(one, two));
}

TEST(NormalHash, WhatComputesSomethingElseIsAnotherProgram) {
  const std::pair<const char*, const char*> kPairs[] = {
      {"float a = fmaxf(x, y);", "float a = fminf(x, y);"},
      {"int a = 1; int b = a;", "int a = 1; int b = b;"},
      {"float a = 1, b = 2; float c = a - b;", "float a = 1, b = 2; float c = b - a;"},
      {"int a; int b = v.size();", "int a; int b = v.data();"},
      {"int size = v.size();", "int data = v.data();"},
      {"return x * M_PI;", "return x * M_E;"},
      {"const int32_t a = 1;", "const int64_t a = 1;"},
      {"#define N 4\nint a[N];", "#define M 4\nint a[M];"},
      {"int a = b - -c;", "int a = b--c;"},
      {"auto f = std::floor(x);", "auto f = std::ceil(x);"},
      {"float expf(float); float a = expf(x);", "float logf(float); float a = logf(x);"},
      {"int copy(int a) { return a; }", "int copies(int a) { return a; }"},
      {"char a[] = \"one\";", "char a[] = \"two\";"},
      {"int a = 1; { int a = 2; f(a); }", "int a = 1; { int b = 2; f(a); }"}};
  for (const auto& [a, b] : kPairs) EXPECT_FALSE(same(a, b)) << a << "\n" << b;
}

TEST(NormalHash, CoversThePlan) {
  kernel::Program a = program("int x;");
  kernel::Program b = program("int  x; // b");
  EXPECT_EQ(normal_hash(a), normal_hash(b));
  b.tunables = {{"BK", {1, 2}}};
  EXPECT_NE(normal_hash(a), normal_hash(b));
}

}  // namespace
}  // namespace ksearch::search
