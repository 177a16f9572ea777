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

TEST_F(BodyKernel, LinesOfTheHeaderAreTheHeaders) {
  Case all = body_case("y[0] = x[0];\n");
  all.body->header = "\ninline float broken() { return nothing; }\n";
  const std::string text = error(all);
  EXPECT_TRUE(has(text, "header:2")) << text;
}

/// Columns 1 and 4 of a 4 x 8 array, as a view.
Case strided_case(const std::string& body) {
  Case all = body_case(body);
  Buffer& x = all.buffers[0];
  x.shape = {4, 2};
  x.strides = {8, 3};
  x.init.kind = Init::Kind::bytes;
  std::vector<float> memory(3 * 8 + 3 + 1);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  x.init.bytes.assign(reinterpret_cast<const char*>(memory.data()), memory.size() * sizeof(float));
  all.buffers[2].shape = {8};
  all.launches[0].threads = {8, 1, 1};
  return all;
}

TEST_F(BodyKernel, AViewIsReadByItsStrides) {
  const Report report =
      run(strided_case("uint i = thread_position_in_grid.x;\n"
                       "y[i] = x[elem_to_loc(i, x_shape, x_strides, x_ndim)];\n"));
  EXPECT_EQ(kinds(report), std::vector<std::string>());
  EXPECT_EQ(values<float>(report, "y"), (std::vector<float>{0, 3, 8, 11, 16, 19, 24, 27}));
}

TEST_F(BodyKernel, AViewEndsAtItsLastElement) {
  const Report report = run(strided_case("y[thread_position_in_grid.x] = x[28];\n"));
  EXPECT_EQ(kinds(report), std::vector<std::string>{"out_of_bounds"});
}

TEST_F(BodyKernel, MlxsUtilitiesAreThere) {
  Case all = body_case(
      "uint i = thread_position_in_grid.x;\n"
      "LoopedElemToLoc<2> walk(x_ndim);\n"
      "for (uint k = 0; k < i; ++k) walk.next(x_shape, x_strides);\n"
      "auto both = elem_to_loc_2_nd(uint3(i % 8, i / 8, 0), x_shape, x_strides, x_strides, "
      "x_ndim);\n"
      "bool right = walk.location() == i && both.x == i && both.y == i &&\n"
      "    ceildiv(i, 4) == (i + 3) / 4 && Limits<float>::min == -INFINITY &&\n"
      "    Limits<int>::max == INT_MAX && cast_to<bool>(0.5f) && log1p(0.0f) == 0;\n"
      "y[i] = right ? 1 : 0;\n");
  const Report report = run(all);
  EXPECT_EQ(kinds(report), std::vector<std::string>());
  EXPECT_EQ(values<float>(report, "y"), std::vector<float>(32, 1.0f));
}

}  // namespace
}  // namespace ksearch::simt
