// Parameter structs, and programs as cases.
#include "simt/fields.h"

#include "kernel_test.h"
#include "simt/program_case.h"
#include "simt/stages.h"

namespace ksearch::simt {
namespace {
using kernel::ScalarKind;

TEST(Fields, HaveTheLayoutOfC) {
  const auto field = [](ScalarKind kind, std::string_view value) {
    return *parse_field(kind, value);
  };
  const std::string bytes =
      struct_bytes({field(ScalarKind::boolean, "true"), field(ScalarKind::i32, "-2"),
                    field(ScalarKind::i64, "3"), field(ScalarKind::f32, "1")});
  const std::string want("\x01\0\0\0\xfe\xff\xff\xff\x03\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\0", 24);
  EXPECT_EQ(bytes, want);
}

TEST(Fields, WhatIsNoValueIsRefused) {
  EXPECT_FALSE(parse_field(ScalarKind::i32, "1.5"));
  EXPECT_FALSE(parse_field(ScalarKind::i32, "3000000000"));
  EXPECT_TRUE(parse_field(ScalarKind::u32, "3000000000"));
  EXPECT_FALSE(parse_field(ScalarKind::u32, "-1"));
  EXPECT_FALSE(parse_field(ScalarKind::boolean, "1"));
  EXPECT_FALSE(parse_field(ScalarKind::f32, ""));
}

TEST(Fields, ABufferMayBeAStruct) {
  const auto buffer = parse_buffer("p=struct:i32:4:f32:0.5:bool:true");
  ASSERT_TRUE(buffer) << buffer.error().text();
  EXPECT_EQ(buffer->bytes(), 12u);
  EXPECT_EQ(buffer->init.bytes, std::string("\x04\0\0\0\0\0\0\x3f\x01\0\0\0", 12));
  EXPECT_FALSE(parse_buffer("p=struct:i32"));
  EXPECT_FALSE(parse_buffer("p=struct"));
  EXPECT_FALSE(parse_buffer("p=struct:f64:1"));
  const auto all = parse_case(
      R"({"launches": [{"kernel": "k", "groups": [1], "group_size": [1]}],
          "buffers": [{"name": "p", "struct": [{"i64": 1}, {"bool": false}]}]})",
      "case.json", "");
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->buffers[0].bytes(), 16u);
  const auto wrong = parse_case(
      R"({"launches": [{"kernel": "k", "groups": [1], "group_size": [1]}],
          "buffers": [{"name": "p", "struct": [{"i32": 1.5}]}]})",
      "case.json", "");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("fields are meant"), std::string::npos);
}

class Programs : public KernelTest {
 protected:
  /// y = scale * x + shift by two launches over scratch t.
  static kernel::BoundProgram bound(const std::string& first, const std::string& second) {
    using namespace kernel;
    BoundProgram bound;
    bound.scratch.push_back({"t", DType::float32, 8, std::nullopt});
    const auto tensor = [](const char* name, bool writes) {
      return BoundTensor{name, 0, writes, DType::float32, std::nullopt};
    };
    const auto launch = [&](const std::string& name, const char* from, const char* to) {
      BoundLaunch launch;
      launch.kernel = name;
      launch.groups = {2, 1, 1};
      launch.group_size = {4, 1, 1};
      launch.args = {tensor(from, false), tensor(to, true)};
      return launch;
    };
    bound.launches = {launch(first, "x", "t"), launch(second, "t", "y")};
    return bound;
  }
  static std::vector<ProgramTensor> tensors() {
    std::string x(32, '\0');
    for (int i = 0; i < 8; ++i) {
      const float value = static_cast<float>(i);
      std::memcpy(x.data() + 4 * i, &value, 4);
    }
    return {{"x", kernel::DType::float32, {8}, Role::in, x},
            {"y", kernel::DType::float32, {8}, Role::out, {}}};
  }
  std::vector<float> result(const kernel::Program& program, const kernel::BoundProgram& bound) {
    const auto cases = cases_of_program(program, bound, tensors());
    EXPECT_TRUE(cases) << cases.error().text();
    if (!cases) return {};
    CheckOptions options;
    options.worker = test_worker();
    const auto report = check_sequence(*builder_, cases->cases, cases->scratch, options);
    EXPECT_TRUE(report) << report.error().text();
    if (!report) return {};
    EXPECT_EQ(kinds(*report), std::vector<std::string>());
    return values<float>(*report, "y");
  }
};

TEST_F(Programs, OfMetalInstantiateTheirKernelsAndTakeStructs) {
  kernel::Program program;
  program.dialect = kernel::Dialect::metal;
  program.sources = {{"k.metal",
                      "#include <metal_stdlib>\nusing namespace metal;\n"
                      "constant int shift [[function_constant(2)]];\n"
                      "struct P { int n; float scale; };\n"
                      "template <typename T, int N>\nkernel void scale(device const T* x,\n"
                      "    device T* y, constant P& p, uint i [[thread_position_in_grid]]) {\n"
                      "  if (int(i) < p.n) y[i] = x[i] * p.scale * N + shift;\n}\n"}};
  kernel::BoundProgram bound = Programs::bound("scale", "scale");
  for (kernel::BoundLaunch& launch : bound.launches) {
    launch.instantiate = {{"T", "float"}, {"N", "2"}};
    launch.args.push_back(
        kernel::BoundStruct{{{ScalarKind::i32, std::int64_t{8}, ""}, {ScalarKind::f32, 0.5, ""}}});
  }
  bound.launches[0].constants = {{"2", "1"}};
  bound.launches[1].constants = {{"2", "10"}};
  EXPECT_EQ(result(program, bound), (std::vector<float>{11, 12, 13, 14, 15, 16, 17, 18}));
}

TEST_F(Programs, OfMlxAreBodies) {
  kernel::Program program;
  program.dialect = kernel::Dialect::mlx;
  program.sources = {
      {"a.metal", "uint i = thread_position_in_grid.x;\nt[i] = twice(x[i]) * s;\n"},
      {"a.h", "inline float twice(float x) { return 2 * x; }"},
      {"b.metal",
       "uint i = thread_position_in_grid.x;\ny[i] = static_cast<T>(t[i] + t_shape[0]);\n"}};
  kernel::BoundProgram bound = Programs::bound("a", "b");
  bound.launches[0].args.insert(bound.launches[0].args.begin(),
                                kernel::BoundScalar{ScalarKind::f32, 3.0, "s"});
  bound.launches[1].instantiate = {{"T", "float"}};
  EXPECT_EQ(result(program, bound), (std::vector<float>{8, 14, 20, 26, 32, 38, 44, 50}));
}

TEST_F(Programs, WhatIsNotRunIsRefusedByName) {
  kernel::Program program;
  program.dialect = kernel::Dialect::metal;
  program.sources = {{"k.metal", "kernel void a() {}"}};
  kernel::BoundProgram bound = Programs::bound("a", "a");
  std::get<kernel::BoundTensor>(bound.launches[0].args[0]).offset = 4;
  EXPECT_NE(cases_of_program(program, bound, tensors()).error().text().find("has an offset"),
            std::string::npos);
  bound = Programs::bound("other", "a");
  EXPECT_NE(cases_of_program(program, bound, tensors()).error().text().find("no source has it"),
            std::string::npos);
  program.dialect = kernel::Dialect::cpp;
  EXPECT_NE(cases_of_program(program, bound, tensors()).error().text().find("dialect cpp"),
            std::string::npos);
}

}  // namespace
}  // namespace ksearch::simt
