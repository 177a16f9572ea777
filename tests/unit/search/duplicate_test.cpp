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

TEST(NormalHash, CoversThePlan) {
  kernel::Program a = program("int x;");
  kernel::Program b = program("int  x; // b");
  EXPECT_EQ(normal_hash(a), normal_hash(b));
  b.tunables = {{"BK", {1, 2}}};
  EXPECT_NE(normal_hash(a), normal_hash(b));
}

}  // namespace
}  // namespace ksearch::search
