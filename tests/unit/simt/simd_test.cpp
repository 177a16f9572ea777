// Operations of SIMD-groups and quads: lane i holds i + 1, so the sum of 32 lanes is 528.
#include "kernel_test.h"

namespace ksearch::simt {
namespace {

class Simd : public KernelTest {
 protected:
  std::vector<float> lanes(const std::string& expression, std::uint32_t threads = 32,
                           int optimize = 2) {
    const Case all = make(
        "kernel void k(device float* y [[buffer(0)]], uint i [[thread_index_in_threadgroup]],\n"
        "              uint lane [[thread_index_in_simdgroup]]) {\n"
        "  float v = float(lane + 1);\n  y[i] = float(" +
            expression + ");\n}\n",
        1, threads, {"y=f32:" + std::to_string(threads)});
    CheckOptions options;
    options.optimize = optimize;
    report_ = run(all, options);
    return values<float>(report_, "y");
  }
  void each(const std::string& expression, float (*want)(int lane)) {
    const auto got = lanes(expression);
    ASSERT_EQ(got.size(), 32u);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(got[static_cast<std::size_t>(i)], want(i)) << expression << i;
    EXPECT_EQ(kinds(report_), std::vector<std::string>()) << expression;
  }
  Report report_;
};

TEST_F(Simd, Reductions) {
  each("simd_sum(v)", [](int) { return 528.0f; });
  each("simd_max(v)", [](int) { return 32.0f; });
  each("simd_min(v)", [](int) { return 1.0f; });
  each("simd_product(lane < 3 ? v : 1.0f)", [](int) { return 6.0f; });
  each("simd_and(lane | 64u)", [](int) { return 64.0f; });
  each("simd_or(lane)", [](int) { return 31.0f; });
  each("simd_xor(lane == 5 ? 9u : 0u)", [](int) { return 9.0f; });
}

TEST_F(Simd, AReductionSeesThePartialSimdgroupOnly) {
  const auto got = lanes("simd_sum(v)", 40);
  EXPECT_EQ(got[0], 528);
  EXPECT_EQ(got[39], 36);  // 1 + ... + 8
}

TEST_F(Simd, Scans) {
  each("simd_prefix_inclusive_sum(v)", [](int l) { return float((l + 1) * (l + 2) / 2); });
  each("simd_prefix_exclusive_sum(v)", [](int l) { return float(l * (l + 1) / 2); });
  each("simd_prefix_inclusive_product(lane == 3 ? 2.0f : 1.0f)",
       [](int l) { return l >= 3 ? 2.0f : 1.0f; });
  each("simd_prefix_exclusive_product(lane == 3 ? 2.0f : 1.0f)",
       [](int l) { return l > 3 ? 2.0f : 1.0f; });
}

TEST_F(Simd, Shuffles) {
  each("simd_shuffle(v, 31 - lane)", [](int l) { return float(32 - l); });
  each("simd_broadcast(v, 7)", [](int) { return 8.0f; });
  each("simd_broadcast_first(v)", [](int) { return 1.0f; });
  each("simd_shuffle_xor(v, 5)", [](int l) { return float((l ^ 5) + 1); });
  each("simd_shuffle_rotate_up(v, 1)", [](int l) { return float((l + 31) % 32 + 1); });
  each("simd_shuffle_rotate_down(v, 1)", [](int l) { return float((l + 1) % 32 + 1); });
  each("simd_shuffle_and_fill_up(v, 100.0f + v, 2)",
       [](int l) { return l >= 2 ? float(l - 1) : float(100 + l + 31); });
  each("simd_shuffle_and_fill_down(v, 100.0f + v, 2)",
       [](int l) { return l < 30 ? float(l + 3) : float(100 + l - 29); });
  each("simd_shuffle_and_fill_up(v, 0.0f, 1, 8)",
       [](int l) { return l % 8 == 0 ? 0.0f : float(l); });
}

TEST_F(Simd, Votes) {
  each("simd_any(lane == 3)", [](int) { return 1.0f; });
  each("simd_all(lane < 32)", [](int) { return 1.0f; });
  each("simd_all(lane < 31)", [](int) { return 0.0f; });
  each("popcount(ulong(simd_vote::vote_t(simd_ballot(lane % 2 == 0))))", [](int) { return 16.0f; });
  each("simd_is_first()", [](int l) { return l == 0 ? 1.0f : 0.0f; });
}

TEST_F(Simd, Quads) {
  each("quad_sum(v)", [](int l) { return float(l / 4 * 16 + 10); });
  each("quad_max(v)", [](int l) { return float(l / 4 * 4 + 4); });
  each("quad_broadcast(v, 2)", [](int l) { return float(l / 4 * 4 + 3); });
  each("quad_shuffle_xor(v, 1)", [](int l) { return float((l ^ 1) + 1); });
}

TEST_F(Simd, ABranchHasItsOwnLanes) {
  for (const int optimize : {0, 2}) {
    const auto got = lanes(
        "([&] { float r = 0; if (lane < 10) r = simd_sum(1.0f); else r = simd_sum(2.0f);\n"
        "  return r + simd_max(100.0f + v); })()",
        32, optimize);
    ASSERT_EQ(got.size(), 32u);
    EXPECT_EQ(got[0], 10 + 132);
    EXPECT_EQ(got[31], 44 + 132);
  }
}

TEST_F(Simd, LanesThatLeftALoopWaitForTheOthers) {
  for (const int optimize : {0, 2}) {
    const auto got = lanes(
        "([&] { float r = 0; for (uint i = 0; i <= lane; ++i) r = simd_sum(1.0f);\n"
        "  return r * 100.0f + simd_sum(1.0f); })()",
        32, optimize);
    ASSERT_EQ(got.size(), 32u);
    EXPECT_EQ(got[0], 3232);
    EXPECT_EQ(got[31], 132);  // alone in the last round, all together after it
  }
}

TEST_F(Simd, AFunctionDefinedAboveAndCalledLaterIsLater) {
  const Case all = make(
      "float total(float v) { return simd_sum(v); }\n"
      "kernel void k(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {\n"
      "  float r = 0;\n  if (lane < 16) r = simd_sum(1.0f);\n  y[lane] = r + 100 * "
      "total(1.0f);\n}\n",
      1, 32, {"y=f32:32"});
  for (const int optimize : {0, 2}) {
    CheckOptions options;
    options.optimize = optimize;
    const auto got = values<float>(run(all, options), "y");
    ASSERT_EQ(got.size(), 32u);
    EXPECT_EQ(got[0], 3216);
    EXPECT_EQ(got[16], 3200);
  }
}

TEST_F(Simd, MatricesMultiplyInApplesLaneMap) {
  const Case all = make(
      "kernel void k(device const float* a [[buffer(0)]], device const half* b [[buffer(1)]],\n"
      "              device float* y [[buffer(2)]], device float* held [[buffer(3)]],\n"
      "              uint lane [[thread_index_in_simdgroup]]) {\n"
      "  simdgroup_float8x8 p, r = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);\n"
      "  simdgroup_half8x8 q;\n"
      "  simdgroup_load(p, a, 8);\n  simdgroup_load(q, b, 8, ulong2(0), true);\n"
      "  simdgroup_multiply_accumulate(r, p, q, r);\n  simdgroup_store(r, y, 8);\n"
      "  held[2 * lane] = p.thread_elements()[0];\n  held[2 * lane + 1] = "
      "p.thread_elements()[1];\n}\n",
      1, 32, {"a=f32:64:iota", "b=f16:64:iota", "y=f32:64", "held=f32:64"});
  const Report report = run(all);
  EXPECT_EQ(kinds(report), std::vector<std::string>());
  const auto y = values<float>(report, "y");
  ASSERT_EQ(y.size(), 64u);
  // Row 0 of a is 0..7, row 0 of b 0..7: 1 + 140; row 1 with row 2: 1 + sum (8 + k)(16 + k).
  EXPECT_EQ(y[0], 141);
  EXPECT_EQ(y[8 + 2], 1 + 8 * 128 + 24 * 28 + 140);
  const auto held = values<float>(report, "held");
  // Lane 0: row 0, columns 0 and 1; lane 9: quarter 2, row 0, columns 6 and 7; lane 31: row 7.
  EXPECT_EQ(held[0], 0);
  EXPECT_EQ(held[1], 1);
  EXPECT_EQ(held[18], 6);
  EXPECT_EQ(held[19], 7);
  EXPECT_EQ(held[62], 62);
  EXPECT_EQ(held[63], 63);
}

/// Lanes below 16 and those above call a function object in two places: 16 lanes each.
TEST_F(Simd, CallsOfAFunctionObjectAreTwoPlaces) {
  const std::string sums =
      "struct Sum { float operator()(float v) const { return simd_sum(v); } };\n"
      "template <class Op> float both(Op op, float v, uint lane) {\n"
      "  if (lane < 16) return op(v);\n  else return op(v) + 1;\n}\n"
      "kernel void k(device float* y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {\n";
  for (const char* call :
       {"both(Sum(), 1.0f, lane)", "both([&](float v) { return simd_sum(v); }, 1.0f, lane)"}) {
    const Report report = run(make(sums + "  y[lane] = " + call + ";\n}\n", 1, 32, {"y=f32:32"}));
    EXPECT_EQ(kinds(report), std::vector<std::string>());
    const auto y = values<float>(report, "y");
    EXPECT_EQ(y[0], 16) << call;
    EXPECT_EQ(y[31], 17) << call;
  }
}

}  // namespace
}  // namespace ksearch::simt
