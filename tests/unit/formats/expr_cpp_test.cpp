#include "formats/expr_cpp.h"

#include <gtest/gtest.h>

namespace ksearch::formats {
namespace {

std::string code_of(std::string_view text, bool preprocessor = false) {
  CodeNames names;
  names.value = [](std::string_view name) { return "p." + std::string(name); };
  names.type = [](std::string_view name) {
    return name == "T" ? std::optional(kernel::DType::bfloat16) : std::nullopt;
  };
  names.present = [](std::string_view tensor) { return "p.has_" + std::string(tensor); };
  names.preprocessor = preprocessor;
  const auto expr = kernel::Expr::parse(text, "test");
  EXPECT_TRUE(expr.has_value()) << text;
  return expr ? to_cpp(*expr, names) : "";
}

TEST(ExprCpp, WritesOperatorsWithTheirPrecedence) {
  EXPECT_EQ(code_of("a + b * 2"), "p.a + (p.b * 2)");
  EXPECT_EQ(code_of("(a + b) * 2"), "(p.a + p.b) * 2");
  EXPECT_EQ(code_of("not (a < b) and c == 3"), "(!(p.a < p.b)) && (p.c == 3)");
  EXPECT_EQ(code_of("-a"), "-p.a");
}

TEST(ExprCpp, DivisionsRoundDownAndReportZero) {
  EXPECT_EQ(code_of("a / b"), "floor_div(p.a, p.b, bad)");
  EXPECT_EQ(code_of("a % 4 + 1"), "floor_mod(p.a, 4, bad) + 1");
  EXPECT_EQ(code_of("ceildiv(a + 1, b)"), "ceil_div(p.a + 1, p.b, bad)");
}

TEST(ExprCpp, ProductsOfLiteralsDoNotOverflowAnInt) {
  EXPECT_EQ(code_of("65536 * 65536"), "int64_t{65536} * 65536");
}

TEST(ExprCpp, TypesAreDecidedAndSized) {
  EXPECT_EQ(code_of("T == bfloat16"), "true");
  EXPECT_EQ(code_of("T == float32 or a > 1"), "(false) || (p.a > 1)");
  EXPECT_EQ(code_of("4 * sizeof(T)"), "4 * 2");
}

TEST(ExprCpp, ExtremesClampsAndPresence) {
  EXPECT_EQ(code_of("min(a, b, 3)"), "std::min<int64_t>({p.a, p.b, 3})");
  EXPECT_EQ(code_of("clamp(a, 1, 8)"), "std::min<int64_t>(std::max<int64_t>(p.a, 1), 8)");
  EXPECT_EQ(code_of("has(z)"), "p.has_z");
}

TEST(ExprCpp, PreprocessorFormUsesOnlyItsOperators) {
  EXPECT_EQ(code_of("a / 4", true), "p.a / 4");
  EXPECT_EQ(code_of("ceildiv(a, 4) * 2", true), "((p.a + 4 - 1) / 4) * 2");
}

}  // namespace
}  // namespace ksearch::formats
