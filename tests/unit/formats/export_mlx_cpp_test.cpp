// The header itself is compiled and called by tests/conformance/mlx_cpp, with MLX; here is what
// needs no MLX, and what both languages refuse.
#include "formats/export_mlx_cpp.h"

#include <gmock/gmock.h>

#include "formats/mlx_cpp_expr.h"
#include "unit/formats/scale_program.h"

namespace ksearch::formats {
namespace {
using testing::HasSubstr;

std::string exported_cpp(const std::string& launches, const std::string& more = "{}",
                         const std::string& body = "y;") {
  const auto scale = Scale::make(launches, body, more);
  if (!scale) return "no program: " + scale.error().text();
  const auto text = export_mlx_cpp((*scale)->request);
  return text ? *text : "refused: " + text.error().text();
}

constexpr const char* kLaunch =
    R"json({"kernel": "k", "groups": ["ceildiv(len, 64)", "k"], "group_size": [64],
            "args": ["x", {"i32": "k"}, {"atomic": "out", "init": 0}]})json";

TEST(ExportMlxCpp, WritesTheSignatureAndTheLaunch) {
  const std::string text = exported_cpp(kLaunch);
  EXPECT_THAT(text, HasSubstr("// Found in a test.\n"));
  EXPECT_THAT(text, HasSubstr("There is no reference in MLX's operations"));
  EXPECT_THAT(text, HasSubstr("namespace scale_mlx {"));
  EXPECT_THAT(text, HasSubstr("inline mx::array scale(const mx::array& x,\n"
                              "    [[maybe_unused]] int64_t k,\n"
                              "    const std::optional<mx::array>& bias = std::nullopt,\n"
                              "    mx::StreamOrDevice stream = {}) {\n"));
  EXPECT_THAT(text, HasSubstr("const int64_t len = detail::size(\"x\", x, 1, 0);"));
  EXPECT_THAT(text, HasSubstr("if (bias) detail::expect(\"bias\", *bias, {len}, T);"));
  EXPECT_THAT(text, HasSubstr("{x, mx::array(static_cast<int64_t>(k), mx::int32)},"));
  EXPECT_THAT(text, HasSubstr("{detail::whole(int64_t{ceil_div(len, 64, bad)} * (64)), "
                              "detail::whole(k), 1},"));
  EXPECT_THAT(text, HasSubstr("static_cast<float>(0), /*verbose=*/false, stream);"));
  // Atomic outputs; the hash: printf '\\0y;\\0x\\0k\\0out' | sha256sum.
  EXPECT_THAT(text, HasSubstr("kernel(\"k\", \"4083845ae3cb\", {\"x\", \"k\"}, {\"out\"},"));
  EXPECT_THAT(text, HasSubstr("detail::k_k_header, detail::k_k_body, true);"));
}

TEST(ExportMlxCpp, TriesTheSelectedTunablesThenNoOthersWithoutWorkloads) {
  const std::string more =
      R"json({"tunables": {"BLOCK": [64, 128]}, "let": {"blocks": "ceildiv(len, BLOCK)"},
              "constraints": ["blocks <= 9"],
              "select": [{"when": "len > 99", "tunables": {"BLOCK": 128}},
                         {"tunables": {"BLOCK": 64}}]})json";
  const std::string text = exported_cpp(kLaunch, more);
  EXPECT_THAT(text, HasSubstr("    BLOCK_ = choice[0];\n"
                              "    blocks = ceil_div(len, BLOCK_, bad);\n"
                              "    return (blocks <= 9) && !bad;\n"));
  EXPECT_THAT(text, HasSubstr("if (!((len > 99 ? fits({128}) : fits({64}))))"));
  EXPECT_THAT(text, HasSubstr("\"scale: there is no plan for these sizes\""));
}

TEST(ExportMlxCpp, NamesAndTextsKeepClearOfTheCodeAround) {
  EXPECT_EQ(mlx_cpp_word("len"), "len");
  EXPECT_EQ(mlx_cpp_word("BQ"), "BQ");
  EXPECT_EQ(mlx_cpp_word("stream"), "stream_");
  EXPECT_EQ(mlx_cpp_word("float"), "float_");
  EXPECT_EQ(mlx_cpp_word("NAN"), "NAN_");
  EXPECT_EQ(mlx_cpp_word("M_PIl"), "M_PIl_");
  EXPECT_EQ(mlx_cpp_word("errno"), "errno_");
  EXPECT_EQ(mlx_cpp_word("__linux__"), "n__linux__");
  EXPECT_EQ(mlx_cpp_text("a = '\\n';\n"), "R\"msl(a = '\\n';\n)msl\"");
  EXPECT_EQ(mlx_cpp_text("// )msl\" ends"), "R\"msl_(// )msl\" ends)msl_\"");
}

TEST(ExportMlxCpp, CommentsEndWhereTheirLineDoes) {
  EXPECT_EQ(mlx_cpp_comment("a\nb"), "// a\n// b\n");
  EXPECT_EQ(mlx_cpp_comment("a \\\nb\r\\"), "// a \\.\n// b \\.\n");
}

TEST(ExportMlx, EachNameOfAProgramBecomesOneOfItsOwn) {
  const std::string more = R"json({"tunables": {"x": [1, 2], "stream": [1], "stream_": [3]}})json";
  const auto scale = Scale::make(kLaunch, "y;", more);
  ASSERT_TRUE(scale) << scale.error().text();
  const LocalNames names((*scale)->definition, (*scale)->program, mlx_cpp_word);
  EXPECT_EQ(names.tensor("x"), "x");
  EXPECT_EQ(names.value("x"), "x_");
  EXPECT_EQ(names.value("stream"), "stream_");
  EXPECT_EQ(names.value("stream_"), "stream__");
}

TEST(ExportMlx, RefusesSourcesThatAreNoText) {
  const auto with = [](std::string body) { return exported_cpp(kLaunch, "{}", body); };
  const std::string_view nul("a;\nb\0c;", 8);
  EXPECT_THAT(with(std::string(nul)), HasSubstr("k.metal, line 2: holds a NUL byte"));
  EXPECT_THAT(with("// \xed\xa0\x80"), HasSubstr("k.metal, line 1: is not UTF-8"));
  EXPECT_THAT(with("// \xc3"), HasSubstr("k.metal, line 1: is not UTF-8"));
  EXPECT_THAT(with(" \n"), HasSubstr("k.metal: is empty"));
  EXPECT_THAT(with("// \xe2\x82\xac"), HasSubstr("namespace scale_mlx"));
}

TEST(ExportMlx, SaysWhatIsMissingWhereALaunchDoesNotRun) {
  const std::string once =
      R"json({"kernel": "k", "when": "k == 1", "threads": ["len"], "group_size": [64],
              "args": ["x", {"read": "bias"}, "out"]})json";
  EXPECT_THAT(exported_cpp(once), HasSubstr("{x, detail::given(\"bias\", bias)},"));
  EXPECT_THAT(exported_cpp(once), HasSubstr("return detail::written(\"out\", out);"));
  const std::string guarded =
      R"json({"kernel": "k", "when": "has(bias) and k > 1", "threads": ["len"], "group_size": [64],
              "args": ["x", {"read": "bias"}, "out"]})json";
  const std::string both = exported_cpp(once + "," + guarded);
  EXPECT_THAT(both, HasSubstr("detail::unwritten(\"out\", out);"));
  EXPECT_THAT(both, HasSubstr("{x, bias.value()},"));
}

TEST(ExportMlx, RefusesProgramsThatRunOnNoWorkload) {
  const auto scale = Scale::make(
      R"json({"kernel": "k", "when": "k > 5", "threads": ["len"], "group_size": [64],
              "args": ["x", "out"]})json",
      "y;");
  ASSERT_TRUE(scale) << scale.error().text();
  kernel::Workload workload;
  workload.name = "small";
  workload.axes = {{"len", 3}, {"k", 5}};
  workload.types = {{"T", kernel::DType::float32}};
  (*scale)->request.workloads = {workload};
  const auto refused = export_mlx_cpp((*scale)->request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("scale: the program runs on none of its workloads (small: launches: no "
                        "launch's condition holds on this workload"));
  workload.axes["k"] = 6;
  (*scale)->request.workloads.push_back(workload);
  EXPECT_TRUE(export_mlx_cpp((*scale)->request));
}

TEST(ExportMlx, RefusesTensorsThatSeveralLaunchesWrite) {
  const auto with = [](const std::string& more) {
    return R"json({"kernel": "k", "threads": ["len"], "group_size": [64], )json" + more +
           R"json("args": ["x", "out"]})json";
  };
  EXPECT_THAT(exported_cpp(with(R"("for": {"t": [0, "k"]}, )")),
              HasSubstr("k: is launched in a loop"));
  EXPECT_THAT(exported_cpp(with("") + "," + with("")),
              HasSubstr("out: is written by several launches"));
  EXPECT_THAT(exported_cpp(with(R"("when": "k > 1", )") + "," + with("")),
              HasSubstr("out: is written by several launches"));
  EXPECT_THAT(exported_cpp(with(R"("when": "k > 1", )") + "," + with(R"("when": "k == 1", )")),
              HasSubstr("if (k == 1) {"));
}

TEST(ExportMlxCpp, RefusesNamesThatNoFunctionOfTheHeaderCanHave) {
  const auto scale = Scale::make(kLaunch, "y;");
  ASSERT_TRUE(scale);
  for (const char* name : {"reference", "detail", "mx", "double", "assert", "EOF", "_x"}) {
    (*scale)->request.name = name;
    EXPECT_FALSE(export_mlx_cpp((*scale)->request)) << name;
  }
}

}  // namespace
}  // namespace ksearch::formats
