#include "evaluate/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "task/elements.h"

namespace ksearch::evaluate {
namespace {

using kernel::DType;

OutputSpec output(std::vector<std::int64_t> shape, DType dtype = DType::float32) {
  OutputSpec o;
  o.shape = {"out", dtype, std::move(shape), kernel::Access::out};
  o.axes = {"rows", "cols"};
  o.tolerance = kernel::default_tolerance(dtype);
  return o;
}

std::vector<double> noise(std::size_t n) {
  base::Random random(3);
  std::vector<double> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<float>(random.unit() + 0.5));
  return v;
}

std::vector<std::byte> stored(const std::vector<double>& values, DType dtype = DType::float32) {
  std::vector<std::byte> bytes(values.size() * kernel::size_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) task::store(dtype, bytes, i, values[i]);
  return bytes;
}

TEST(Compare, EqualIsRight) {
  const auto want = noise(100);
  const Comparison c = compare(output({10, 10}), stored(want), want);
  EXPECT_TRUE(c.right);
  EXPECT_EQ(c.error, 0);
}

TEST(Compare, RelativeRmsIsOverAllElements) {
  const std::vector<double> want{1, 1, 1, 1};
  const Comparison c =
      compare(output({2, 2}), stored({1.0, 1.0, 1.0, 1.0 + 1.0 / (1 << 16)}), want);
  // One of four off by 2^-16: 2^-16 / 2.
  EXPECT_NEAR(c.error, 7.63e-6, 1e-8);
  EXPECT_TRUE(c.right);
}

TEST(Compare, ZerosFailHoweverSmallTheValues) {
  auto want = noise(4096);
  for (double& w : want) w *= 1e-7;
  const Comparison c = compare(output({1, 4096}), stored(std::vector<double>(4096, 0.0)), want);
  EXPECT_FALSE(c.right);
  EXPECT_NEAR(c.error, 1.0, 1e-12);
  EXPECT_NE(c.why.find("every element is zero"), std::string::npos) << c.why;
}

TEST(Compare, OneElementFarOffFailsThoughTheSumIsSmall) {
  const auto want = noise(1 << 20);
  auto got = want;
  got[77] += 0.005;  // rms error 5e-6 / 1.04, but 50 * 1e-5 * (|w| + rms) is about 1e-3
  const Comparison c = compare(output({1024, 1024}), stored(got), want);
  EXPECT_FALSE(c.right);
  EXPECT_EQ(c.wrong, 1);
  EXPECT_LT(c.error, 1e-5);
  EXPECT_EQ(c.why.substr(0, 10), "out[0, 77]") << c.why;
}

TEST(Compare, NaNIsWrongAndSoIsAnInfinity) {
  const auto want = noise(16);
  for (const double bad : {std::nan(""), double{INFINITY}}) {
    auto got = want;
    got[5] = bad;
    const Comparison c = compare(output({4, 4}), stored(got), want);
    EXPECT_FALSE(c.right);
    EXPECT_TRUE(std::isnan(c.error));
    EXPECT_EQ(c.wrong, 1);
  }
}

TEST(Compare, AnInfinityThatIsWantedMustBeMet) {
  std::vector<double> want{1, -INFINITY, 2, 3};
  EXPECT_TRUE(compare(output({2, 2}), stored(want), want).right);
  EXPECT_FALSE(compare(output({2, 2}), stored({1, 0, 2, 3}), want).right);
}

TEST(Compare, Float16ArithmeticDoesNotPassForFloat32) {
  const auto want = noise(1000);
  std::vector<double> got;
  for (const double w : want)
    got.push_back(kernel::float_from_half(kernel::half_from_float(static_cast<float>(w))));
  const Comparison c = compare(output({10, 100}), stored(got), want);
  EXPECT_FALSE(c.right);
  EXPECT_NEAR(c.error, 2e-4, 1e-4);
  EXPECT_NE(c.why.find("the error is of the size of float16 arithmetic"), std::string::npos)
      << c.why;
}

TEST(Compare, SaysWhichRowsAreWrong) {
  const auto want = noise(64);
  auto got = want;
  for (std::size_t i = 32; i < 64; ++i) got[i] = want[i - 32];
  const Comparison c = compare(output({8, 8}), stored(got), want);
  EXPECT_FALSE(c.right);
  EXPECT_NE(c.why.find("all of them where index 0 (rows) is 4 or more"), std::string::npos)
      << c.why;
}

TEST(Compare, SaysWhichColumnsAreWrong) {
  const auto want = noise(64);
  auto got = want;
  for (std::size_t r = 0; r < 8; ++r) got[r * 8 + 7] = -1;
  const Comparison c = compare(output({8, 8}), stored(got), want);
  EXPECT_NE(c.why.find("8 of 64 elements are wrong, all of them where index 1 (cols) is 7"),
            std::string::npos)
      << c.why;
}

TEST(Compare, SaysWhichColumnsAreWrongWhereTheyAreScattered) {
  const auto want = noise(64);
  const auto why = [&](std::vector<std::size_t> columns) {
    auto got = want;
    for (std::size_t r = 0; r < 8; ++r)
      for (const std::size_t c : columns) got[r * 8 + c] = -1;
    return compare(output({8, 8}), stored(got), want).why;
  };
  EXPECT_NE(why({1, 6}).find("index 1 (cols) is 1 or 6"), std::string::npos) << why({1, 6});
  EXPECT_NE(why({1, 3, 5, 7}).find("index 1 (cols) is 1, 3 and so on up to 7"), std::string::npos)
      << why({1, 3, 5, 7});
  EXPECT_NE(why({0, 3, 4}).find("index 1 (cols) takes 3 of its 8 values"), std::string::npos)
      << why({0, 3, 4});
}

TEST(Compare, KnowsATransposeAndAFactor) {
  const auto want = noise(64);
  std::vector<double> turned(64), scaled;
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t c = 0; c < 8; ++c) turned[c * 8 + r] = want[r * 8 + c];
  for (const double w : want) scaled.push_back(2.5 * w);
  EXPECT_NE(compare(output({8, 8}), stored(turned), want).why.find("the transpose"),
            std::string::npos);
  EXPECT_NE(compare(output({8, 8}), stored(scaled), want)
                .why.find("every element is 2.5 times what is wanted"),
            std::string::npos);
}

TEST(Compare, UnwrittenElementsAreCounted) {
  const auto want = noise(64);
  auto got = stored(want);
  const Poison poison{0x123456789abcdef};
  poison.fill(DType::float32, std::span(got).subspan(200));
  const Comparison c = compare(output({8, 8}), got, want, &poison);
  EXPECT_NE(c.why.find("14 were never written"), std::string::npos) << c.why;
}

TEST(Compare, ExactCountsUnequalElements) {
  OutputSpec o = output({4}, DType::int32);
  o.compare = kernel::Compare::exact;
  const std::vector<double> want{1, 2, 3, 4};
  EXPECT_TRUE(compare(o, stored(want, DType::int32), want).right);
  const Comparison c = compare(o, stored({1, 2, 9, 4}, DType::int32), want);
  EXPECT_FALSE(c.right);
  EXPECT_EQ(c.wrong, 1);
  EXPECT_EQ(c.why.substr(0, 23), "out[2] is 9, wanted 3; ") << c.why;
}

TEST(Compare, ForeignToleranceCountsElementsWithin) {
  OutputSpec o = output({100});
  o.tolerance.rtol = 0.01;
  o.tolerance.atol = 0.01;
  o.tolerance.required_match = 0.95;
  std::vector<double> want(100, 1.0), got(100, 1.015);
  for (int i = 0; i < 5; ++i) got[static_cast<std::size_t>(i)] = 2;
  EXPECT_TRUE(compare(o, stored(got), want).right);
  got[5] = 2;
  const Comparison c = compare(o, stored(got), want);
  EXPECT_FALSE(c.right);
  EXPECT_NEAR(c.error, 0.06, 1e-12);
}

TEST(Compare, SlackWidensWhatIsAllowed) {
  const std::vector<double> want(100, 1.0), got(100, 1.00002);
  EXPECT_FALSE(compare(output({100}), stored(got), want).right);
  EXPECT_TRUE(compare(output({100}), stored(got), want, nullptr, 1.5e-5).right);
}

TEST(Poison, IsNaNInEveryFloatAndFoundAgain) {
  const Poison poison{0xdeadbeefcafe1234};
  for (const DType t : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    std::vector<std::byte> bytes(32);
    poison.fill(t, bytes);
    std::vector<double> values(32 / kernel::size_bytes(t));
    task::with_elements(t, [&]<class E>(E) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = E::load(bytes.data() + i * sizeof(typename E::Raw));
    });
    for (const double v : values) EXPECT_TRUE(std::isnan(v));
    EXPECT_EQ(poison.left(t, bytes), static_cast<std::int64_t>(values.size()));
    EXPECT_EQ(Poison{1}.left(t, bytes), 0);
  }
}

}  // namespace
}  // namespace ksearch::evaluate
