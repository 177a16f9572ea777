#include "evaluate/prepared_program.h"

#include <gtest/gtest.h>

namespace ksearch::evaluate {
namespace {

std::string hash_of(std::string text) {
  kernel::Program p;
  p.task = "t";
  p.sources = {{"k.cpp", std::move(text)}};
  return normalised_hash(p);
}

TEST(NormalisedHash, CommentsAndWhiteSpaceDoNotCount) {
  const std::string plain = hash_of("int f(int a) { return a + 1; }");
  EXPECT_EQ(hash_of("int f(int a) {\n  return a + 1;  // more\n}\n"), plain);
  EXPECT_EQ(hash_of("/* first */ int f( int a ){ return a+1; }"), plain);
}

TEST(NormalisedHash, NamesNumbersAndStringsCount) {
  EXPECT_NE(hash_of("int f(int a) { return a + 2; }"), hash_of("int f(int a) { return a + 1; }"));
  EXPECT_NE(hash_of("const char* s = \"a  b\";"), hash_of("const char* s = \"a b\";"));
  EXPECT_NE(hash_of("return a + +b;"), hash_of("return a ++b;"));
}

TEST(NormalisedHash, DirectivesKeepTheirLines) {
  EXPECT_NE(hash_of("#define A 1\nint x;"), hash_of("#define A 1 int x;"));
  EXPECT_EQ(hash_of("#define A 1\n\n\nint x;"), hash_of("#define A  1\nint  x;"));
}

}  // namespace
}  // namespace ksearch::evaluate
