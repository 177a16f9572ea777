// The file itself is run by python/tests/test_export.py, against MLX; here is what needs no MLX.
#include "formats/export_mlx_python.h"

#include <gmock/gmock.h>

#include "formats/expr_python.h"
#include "unit/formats/scale_program.h"

namespace ksearch::formats {
namespace {
using testing::HasSubstr;

std::string python_of(std::string_view text) {
  const auto expr = kernel::Expr::parse(text, "test");
  EXPECT_TRUE(expr.has_value()) << text;
  const PythonNames names = {
      [](std::string_view name) {
        return name.starts_with("device.") ? std::string("32") : python_word(name);
      },
      [](std::string_view tensor) { return std::string(tensor) + " is not None"; }};
  return expr ? to_python(*expr, names) : "";
}

TEST(ExprPython, WritesOperatorsWithTheirPrecedence) {
  EXPECT_EQ(python_of("a + b * 2"), "a + (b * 2)");
  EXPECT_EQ(python_of("(a + b) * 2"), "(a + b) * 2");
  EXPECT_EQ(python_of("not (a < b) and c == 3"), "(not (a < b)) and (c == 3)");
  EXPECT_EQ(python_of("a / b % 4"), "(a // b) % 4");
  EXPECT_EQ(python_of("ceildiv(a + 1, b)"), "-(-(a + 1) // b)");
  EXPECT_EQ(python_of("clamp(a, 1, 8)"), "min(max(a, 1), 8)");
}

TEST(ExprPython, TypesTensorsAndTheDevice) {
  EXPECT_EQ(python_of("T == bfloat16"), "T == mx.bfloat16");
  EXPECT_EQ(python_of("sizeof(T) * sizeof(float32)"), "T.size * 4");
  EXPECT_EQ(python_of("has(z)"), "z is not None");
  EXPECT_EQ(python_of("2 * device.cores"), "2 * 32");
}

TEST(ExprPython, WordsOfPythonAreChanged) {
  EXPECT_EQ(python_of("len + lambda"), "len + lambda_");
  EXPECT_EQ(python_of("_ + __debug__"), "__ + __debug___");
}

TEST(ExprPython, TextsBecomeLiteralsOfTheSameText) {
  EXPECT_EQ(python_text("two\nlines"), "\"\"\"two\nlines\"\"\"");
  EXPECT_EQ(python_text("a = '\\n';\n"), "r\"\"\"a = '\\n';\n\"\"\"");
  EXPECT_EQ(python_text("ends \\"), R"("""ends \\""")");
  EXPECT_EQ(python_text("a\r\nb"), "\"\"\"a\\015\nb\"\"\"");
  EXPECT_EQ(line_literal("say \"x\"\n"), R"("say \"x\"\012")");
}

base::Result<std::string> exported(const std::string& launch, const std::string& body) {
  KS_TRY(const auto scale, Scale::make("{" + launch + "}", body));
  return export_mlx_python(scale->request);
}

TEST(ExportMlxPython, WritesTheSignatureAndTheLaunch) {
  const auto text = exported(
      R"json("kernel": "k", "instantiate": [["T", "T"]], "groups": ["ceildiv(len, 64)", "k"],
         "group_size": [64],
         "args": ["x", {"i32": "k"}, {"atomic": "out", "init": 0}])json",
      "y;");
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("def scale(x, *, k, bias=None, stream=None):"));
  EXPECT_THAT(*text, HasSubstr("T = _one_of(\"x\", x, (mx.float32,))"));
  EXPECT_THAT(*text, HasSubstr("len, = _sizes(\"x\", x, 1)"));
  EXPECT_THAT(*text, HasSubstr("if bias is not None:\n        _expect(\"bias\", bias, (len,), T)"));
  EXPECT_THAT(*text, HasSubstr("inputs=[x, mx.array(k, dtype=mx.int32)],"));
  EXPECT_THAT(*text, HasSubstr("grid=((-(-len // 64)) * (64), k, 1),"));
  EXPECT_THAT(*text, HasSubstr("init_value=0"));
  EXPECT_THAT(*text, HasSubstr("atomic=True,"));
  EXPECT_THAT(*text, HasSubstr("Found in a test."));
  EXPECT_THAT(*text, HasSubstr("There is no reference in MLX's operations"));
}

TEST(ExportMlxPython, SourcesKeepTheirText) {
  const std::string launch =
      R"json("kernel": "k", "threads": ["len", "k"], "group_size": [64], "args": ["x", "out"])json";
  const auto plain = exported(launch, "a = '\\n';\n");
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_THAT(*plain, HasSubstr("r\"\"\"a = '\\n';\n\"\"\""));
  const auto quotes = exported(launch, "// \"\"\" and \\ and \"");
  ASSERT_TRUE(quotes);
  EXPECT_THAT(*quotes, HasSubstr(R"("""// \"\"\" and \\ and \"""")"));
}

TEST(ExportMlxPython, RefusesNamesThatNoFunctionOfTheFileCanHave) {
  const auto scale = Scale::make(
      R"json({"kernel": "k", "threads": ["len"], "group_size": [64], "args": ["x", "out"]})json",
      "y;");
  ASSERT_TRUE(scale);
  const auto why = [&](const char* name) {
    (*scale)->request.name = name;
    const auto text = export_mlx_python((*scale)->request);
    return text ? "" : text.error().text();
  };
  EXPECT_THAT(why("lambda"), HasSubstr("lambda: is a word of Python (give another with --name)"));
  EXPECT_THAT(why("tuple"), HasSubstr("is a builtin of Python that the file may call"));
  EXPECT_THAT(why("hashlib"), HasSubstr("is a name of the file's own"));
  EXPECT_THAT(why("_kernel"), HasSubstr("names with _ in front are the file's own"));
  EXPECT_EQ(why("double"), "");
}

TEST(ExportMlxPython, RefusesWhatMlxDoesNotTake) {
  const auto offset = exported(
      R"json("kernel": "k", "threads": ["len"], "group_size": [64],
         "args": [{"read": "x", "offset": "k"}, "out"])json",
      "y;");
  ASSERT_FALSE(offset);
  EXPECT_THAT(offset.error().text(), HasSubstr("MLX takes no offset of a tensor"));
  const auto unknown = exported(
      R"json("kernel": "other", "threads": ["len"], "group_size": [64], "args": ["x", "out"])json",
      "y;");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), HasSubstr("other.metal is its body"));
}

}  // namespace
}  // namespace ksearch::formats
