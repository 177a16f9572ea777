#include "kernel/expr.h"

#include <gtest/gtest.h>

namespace ksearch::kernel {
namespace {

Scope scope() {
  Scope s;
  s.set("L", std::int64_t{1000});
  s.set("D", std::int64_t{64});
  s.set("causal", true);
  s.set("scale", 0.125);
  s.set("T", DType::bfloat16);
  s.set("device.cores", std::int64_t{2});
  s.set("device.has_amx_bf16", true);
  s.set_present("z", false);
  s.set_present("u", true);
  return s;
}

std::string eval(const std::string& text) {
  const auto e = Expr::parse(text, "here");
  if (!e) return "parse: " + e.error().what;
  const auto v = e->eval(scope());
  return v ? to_text(*v) : "eval: " + v.error().what;
}

TEST(Expr, KnowsPrecedence) {
  EXPECT_EQ(eval("2 + 3 * 4 - 10 / 5"), "12");
  EXPECT_EQ(eval("(2 + 3) * 4"), "20");
  EXPECT_EQ(eval("1 + 1 == 2 and not 3 < 2 or false"), "true");
  EXPECT_EQ(eval("- 2 * 3"), "-6");
  EXPECT_EQ(eval("10 - 4 - 3"), "3");
}

TEST(Expr, DividesDownwards) {
  EXPECT_EQ(eval("7 / 2"), "3");
  EXPECT_EQ(eval("-7 / 2"), "-4");
  EXPECT_EQ(eval("-7 % 2"), "1");
  EXPECT_EQ(eval("7 % -2"), "-1");
  EXPECT_EQ(eval("ceildiv(7, 2)"), "4");
  EXPECT_EQ(eval("ceildiv(-7, 2)"), "-3");
}

TEST(Expr, HasItsFunctions) {
  EXPECT_EQ(eval("min(L, D, 3)"), "3");
  EXPECT_EQ(eval("max(1, D)"), "64");
  EXPECT_EQ(eval("clamp(L, 1, 512)"), "512");
  EXPECT_EQ(eval("sizeof(T) + sizeof(float32)"), "6");
  EXPECT_EQ(eval("has(z)"), "false");
  EXPECT_EQ(eval("has(u)"), "true");
}

TEST(Expr, ComparesTypes) {
  EXPECT_EQ(eval("T == bfloat16"), "true");
  EXPECT_EQ(eval("T != float32"), "true");
  EXPECT_EQ(eval("T == 3"), "eval: a type is compared with something else");
}

TEST(Expr, CountsABooleanAsOneInArithmetic) {
  EXPECT_EQ(eval("L - 10 * causal"), "990");
  EXPECT_EQ(eval("causal == 1"), "true");
}

TEST(Expr, LetsAFloatStandAlone) {
  EXPECT_EQ(eval("scale"), "0.125");
  EXPECT_EQ(eval("scale * 2"), "eval: a float parameter can only stand alone");
}

TEST(Expr, KnowsTheDevice) {
  EXPECT_EQ(eval("device.cores * 2"), "4");
  EXPECT_EQ(eval("device.has_amx_bf16"), "true");
  EXPECT_EQ(eval("device.has_something_else"), "false");
}

TEST(Expr, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(eval("K"), "eval: \"K\" is not known here");
  EXPECT_EQ(eval("has(K)"), "eval: \"K\" is no tensor");
  EXPECT_EQ(eval("floor(2)"),
            "parse: \"floor\" is no function; there are ceildiv, min, max, clamp, sizeof, has at "
            "column 9 of \"floor(2)\"");
}

TEST(Expr, RefusesOverflowAndDivisionByZero) {
  EXPECT_EQ(eval("9223372036854775807 + 1"), "eval: overflow");
  EXPECT_EQ(eval("4611686018427387904 * 2"), "eval: overflow");
  EXPECT_EQ(eval("1 / (D - 64)"), "eval: division by zero");
  EXPECT_EQ(eval("1 % 0"), "eval: division by zero");
  EXPECT_EQ(eval("(-9223372036854775807 - 1) / -1"), "eval: division by zero");
}

TEST(Expr, TakesOnlyBooleansAsConditions) {
  EXPECT_EQ(eval("1 and 2"), "eval: 1 is used as true or false");
  EXPECT_EQ(eval("not L"), "eval: 1000 is used as true or false");
}

TEST(Expr, RefusesWhatIsNoExpression) {
  for (const char* text :
       {"", "1 +", "(1", "1)", "1 2", "a b", "1.5", "0x10", "1 = 1", "min()", "clamp(1, 2)", "and",
        "sizeof(3)", "has(1)", "L[0]", "a?b:c", "\"a\"", "99999999999999999999", "1 < 2 < 3"})
    EXPECT_FALSE(Expr::parse(text, "here")) << text;
}

TEST(Expr, BoundsItsDepth) {
  EXPECT_FALSE(Expr::parse(std::string(2000, '(') + "1" + std::string(2000, ')'), "here"));
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_FALSE(Expr::parse(sum, "here"));
  EXPECT_FALSE(Expr::parse(std::string(5000, '1'), "here"));
  std::string nots;
  for (int i = 0; i < 500; ++i) nots += "not ";
  EXPECT_EQ(eval(nots + "causal"), "true");
  EXPECT_EQ(eval(std::string(1001, '-') + "1"), "-1");
}

TEST(Expr, ListsItsNames) {
  const auto e = Expr::parse("L * sizeof(T) + device.cores * has(z)", "here");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->names(), (std::set<std::string>{"L", "T", "device.cores"}));
  EXPECT_EQ(e->tensors(), (std::set<std::string>{"z"}));
}

}  // namespace
}  // namespace ksearch::kernel
