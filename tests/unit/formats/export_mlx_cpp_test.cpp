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
  // Atomic outputs; the hash is that of "y;" (sha256sum).
  EXPECT_THAT(text, HasSubstr("kernel(\"k\", \"156643891227\", {\"x\", \"k\"}, {\"out\"},"));
  EXPECT_THAT(text, HasSubstr("detail::k_k_header, detail::k_k_body, true);"));
}

TEST(ExportMlxCpp, TriesTheSelectedTunablesThenNoOthersWithoutWorkloads) {
  const std::string more =
      R"json({"tunables": {"BLOCK": [64, 128]}, "let": {"blocks": "ceildiv(len, BLOCK)"},
              "constraints": ["blocks <= 9"],
              "select": [{"when": "len > 99", "tunables": {"BLOCK": 128}},
                         {"tunables": {"BLOCK": 64}}]})json";
  const std::string text = exported_cpp(kLaunch, more);
  EXPECT_THAT(text, HasSubstr("    BLOCK = choice[0];\n"
                              "    blocks = ceil_div(len, BLOCK, bad);\n"
                              "    return (blocks <= 9) && !bad;\n"));
  EXPECT_THAT(text, HasSubstr("if (!((len > 99 ? fits({128}) : fits({64}))))"));
  EXPECT_THAT(text, HasSubstr("\"scale: there is no plan for these sizes\""));
}

TEST(ExportMlxCpp, NamesAndTextsKeepClearOfTheCodeAround) {
  EXPECT_EQ(mlx_cpp_name("len"), "len");
  EXPECT_EQ(mlx_cpp_name("stream"), "stream_");
  EXPECT_EQ(mlx_cpp_name("float"), "float_");
  EXPECT_EQ(mlx_cpp_text("a = '\\n';\n"), "R\"msl(a = '\\n';\n)msl\"");
  EXPECT_EQ(mlx_cpp_text("// )msl\" ends"), "R\"msl_(// )msl\" ends)msl_\"");
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

TEST(ExportMlx, RefusesNamesOfTheFilesOwn) {
  const auto scale = Scale::make(kLaunch, "y;");
  ASSERT_TRUE(scale);
  for (const char* name : {"reference", "detail", "mx"}) {
    (*scale)->request.name = name;
    EXPECT_FALSE(export_mlx_cpp((*scale)->request)) << name;
  }
}

}  // namespace
}  // namespace ksearch::formats
