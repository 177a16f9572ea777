#include "simt/msl/body.h"

#include "kernel_test.h"

namespace ksearch::simt {
namespace {

Case body_case(const std::string& body) {
  Case all;
  all.file = "body.metal";
  all.source = body;
  all.body.emplace();
  all.body->inputs = {"x", "s"};
  all.body->outputs = {"y"};
  const auto add = [&](std::string name, std::vector<std::int64_t> shape, Role role) {
    Buffer buffer{.name = std::move(name), .shape = std::move(shape), .role = role};
    if (role == Role::in) buffer.init.kind = Init::Kind::iota;
    all.buffers.push_back(buffer);
  };
  add("x", {4, 8}, Role::in);
  add("s", {}, Role::in);
  add("y", {32}, Role::out);
  Launch launch;
  launch.kernel = "body";
  launch.threads = {32, 1, 1};
  launch.group_size = {256, 1, 1};
  all.launches.push_back(launch);
  return all;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Body, SignatureFollowsMlxsRules) {
  const auto text = msl::source_of_body(body_case("y[thread_position_in_grid.x] = x[0] + s;"));
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_TRUE(has(*text, "const device float* x [[buffer(0)]]"));
  EXPECT_TRUE(has(*text, "const constant float& s [[buffer(1)]]"));  // 0-d, below 8 elements
  EXPECT_TRUE(has(*text, "device float* y [[buffer(2)]]"));
  EXPECT_TRUE(has(*text, "uint3 thread_position_in_grid [[thread_position_in_grid]]"));
  EXPECT_FALSE(has(*text, "x_shape"));
}

TEST(Body, ANameAnywhereInTheTextCounts) {
  const auto text = msl::source_of_body(
      body_case("// dispatch_threads_per_threadgroup and max_shape of x_shape\n"));
  ASSERT_TRUE(text);
  EXPECT_TRUE(has(*text, "uint3 threads_per_threadgroup [["));
  EXPECT_TRUE(has(*text, "const constant int* x_shape [[buffer(1)]]"));
  EXPECT_TRUE(has(*text, "y [[buffer(3)]]"));
}

TEST(Body, ShapesAndStridesAreBound) {
  const auto all = msl::with_body_buffers(body_case("x_shape x_strides x_ndim s_shape"));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->buffers.size(), 6u);  // s has no dimensions, so no shape
  EXPECT_EQ(*all->buffers[1].init.values, (std::vector<double>{4, 8}));
  EXPECT_EQ(*all->buffers[2].init.values, (std::vector<double>{8, 1}));
  EXPECT_EQ(all->buffers[3].init.value, 2);
  EXPECT_EQ(all->launches[0].group_size[0], 32u);  // clamped to the grid
}

class BodyKernel : public KernelTest {};

TEST_F(BodyKernel, RunsWithItsTemplateArguments) {
  Case all = body_case(
      "uint i = thread_position_in_grid.x;\n"
      "if (i < uint(N)) y[i] = static_cast<T>(x[i]) * s_scale() + float(x_shape[1]) + "
      "x_strides[0];\n");
  all.body->header = "inline float s_scale() { return 2.0f; }";
  all.body->arguments = {{"T", "half"}, {"N", "32"}};
  const Report report = run(all);
  EXPECT_EQ(kinds(report), std::vector<std::string>());
  const auto y = values<float>(report, "y");
  ASSERT_EQ(y.size(), 32u);
  EXPECT_EQ(y[5], 26);  // 2 * 5 + 8 + 8
}

TEST_F(BodyKernel, AtomicOutputsAreAtomic) {
  Case all = body_case(
      "atomic_fetch_add_explicit(&y[0], x[thread_position_in_grid.x], "
      "memory_order_relaxed);");
  all.body->atomic_outputs = true;
  all.buffers[2].shape = {1};
  const Report report = run(all);
  // Counted into without a start value.
  EXPECT_EQ(kinds(report), std::vector<std::string>{"uninitialised_output"});
}

TEST_F(BodyKernel, LinesAreThoseOfTheBody) {
  const std::string text = error(body_case("y[0] = x[0];\ny[1] = nothing;\n"));
  EXPECT_TRUE(has(text, "body.metal:2")) << text;
}

}  // namespace
}  // namespace ksearch::simt
