#include "evaluate/empty_program.h"

#include <gtest/gtest.h>

namespace ksearch::evaluate {
namespace {

kernel::BoundLaunch launch(const std::string& kernel, kernel::BoundArg arg) {
  kernel::BoundLaunch bound;
  bound.kernel = kernel;
  bound.args = {std::move(arg)};
  return bound;
}

TEST(EmptyProgram, BodiesOfMlxAreTakenOut) {
  kernel::Program program;
  program.dialect = kernel::Dialect::mlx;
  program.sources = {{"a.metal", "out[0] = 1;"}, {"a.h", "int f();"}, {"unused.metal", "x;"}};
  kernel::BoundProgram plan;
  plan.launches = {launch("a", kernel::BoundTensor{}), launch("a", kernel::BoundTensor{})};
  const auto empty = empty_program(program, {plan});
  ASSERT_TRUE(empty);
  ASSERT_EQ(empty->sources.size(), 1u);
  EXPECT_EQ(empty->sources[0].path, "a.metal");
  EXPECT_EQ(empty->sources[0].text, kEmptyBody);
  EXPECT_NE(empty->hash(), program.hash());
}

TEST(EmptyProgram, FunctionsOfCppKeepTheirArguments) {
  kernel::Program program;
  kernel::BoundProgram plan;
  kernel::BoundTensor out;
  out.writes = true;
  plan.launches = {launch("a", out), launch("b", kernel::BoundScalar{})};
  const auto empty = empty_program(program, {plan});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->sources.at(0).text,
            "// Every kernel of the plan, empty.\n"
            "extern \"C\" void a(float*, const ks_group*) {}\n"
            "extern \"C\" void b(int32_t, const ks_group*) {}\n");
}

TEST(EmptyProgram, WholeFunctionsAndStructsAreLeft) {
  kernel::Program program;
  kernel::BoundProgram plan;
  plan.launches = {launch("a", kernel::BoundStruct{})};
  EXPECT_FALSE(empty_program(program, {plan}));
  program.dialect = kernel::Dialect::metal;
  EXPECT_FALSE(empty_program(program, {plan}));
}

}  // namespace
}  // namespace ksearch::evaluate
