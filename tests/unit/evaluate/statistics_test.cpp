#include "evaluate/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace ksearch::evaluate {
namespace {

TEST(Statistics, MedianOfEvenAndOddCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, OneSampleSaysNothingOfTheInterval) {
  const Interval i = location({5});
  EXPECT_EQ(i.value, 5);
  EXPECT_EQ(i.low, -INFINITY);
  EXPECT_EQ(i.high, INFINITY);
}

TEST(Statistics, FewSamplesGetStudentsInterval) {
  // Mean 2, standard deviation 1, n = 3: 2 +- 4.303 / sqrt(3).
  const Interval i = location({1, 2, 3});
  EXPECT_EQ(i.value, 2);
  EXPECT_NEAR(i.low, 2 - 2.4843, 1e-3);
  EXPECT_NEAR(i.high, 2 + 2.4843, 1e-3);
}

TEST(Statistics, IntervalOfTenLiesBetweenSecondAndThirdOfTheEnds) {
  // n = 10: [x2, x9] covers 97.85%, [x3, x8] 89.06%; Hettmansperger and Sheather's interpolation:
  // I = (0.97852 - 0.95) / (0.97852 - 0.89063) = 0.32446, lambda = 8 I / (2 + 6 I) = 0.65765.
  const Interval i = location({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(i.value, 5.5);
  EXPECT_NEAR(i.low, 2.6577, 1e-3);
  EXPECT_NEAR(i.high, 8.3423, 1e-3);
}

TEST(Statistics, OneWildBatchDoesNotMoveAMedianOfTwelve) {
  std::vector<double> base(12, 100.0), program(12, 50.0);
  program[3] = 5000;
  const kernel::Ratio r = paired_ratio(base, program);
  EXPECT_DOUBLE_EQ(r.value, 2.0);
  EXPECT_NEAR(r.low, 2.0, 1e-9);
  EXPECT_EQ(r.pairs, 12);
}

TEST(Statistics, PairsCancelWhatTheHostDoesToBoth) {
  const std::vector<double> base{100, 200, 150, 400, 100, 120}, program{50, 100, 75, 200, 50, 60};
  const kernel::Ratio r = paired_ratio(base, program);
  EXPECT_DOUBLE_EQ(r.value, 2.0);
  EXPECT_NEAR(r.high - r.low, 0.0, 1e-9);
}

TEST(Statistics, IntervalCoversTheMedianNineteenTimesOfTwenty) {
  base::Random random(5);
  for (const int n : {6, 8, 13, 30}) {
    int covered = 0;
    constexpr int kTrials = 4000;
    for (int t = 0; t < kTrials; ++t) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i)
        samples.push_back(std::exp(3 * (random.unit() - 0.5)) - 1);  // median 0
      const Interval i = location(samples);
      covered += i.low <= 0 && 0 <= i.high;
    }
    EXPECT_NEAR(covered / static_cast<double>(kTrials), 0.955, 0.02) << n;
  }
}

/// Share of paired intervals that hold the true ratio, where the noise of a pair keeps `memory` of
/// that of the one before.
double coverage(int pairs, double memory) {
  base::Random random(7);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int t = 0; t < kTrials; ++t) {
    std::vector<double> base, program(static_cast<std::size_t>(pairs), 1.0);
    double drift = random.unit() - 0.5;
    for (int i = 0; i < pairs; ++i) {
      drift = memory * drift + random.unit() - 0.5;
      base.push_back(std::exp(0.1 * drift));
    }
    const kernel::Ratio r = paired_ratio(base, program);
    covered += r.low <= 1 && 1 <= r.high;
  }
  return covered / static_cast<double>(kTrials);
}

TEST(Statistics, PairedIntervalsHoldWhereTheHostDrifts) {
  for (const int pairs : {8, 12, 40, 150}) {
    EXPECT_GE(coverage(pairs, 0), 0.94) << pairs;
    EXPECT_GE(coverage(pairs, 0.5), 0.88) << pairs;
  }
}

TEST(Statistics, WhatTheOrderDoesIsNoDrift) {
  std::vector<double> base, program(40, 1.0);
  base::Random random(3);
  for (int i = 0; i < 40; ++i)
    base.push_back((i % 2 == 0 ? 1.02 : 0.98) * std::exp(0.01 * (random.unit() - 0.5)));
  const kernel::Ratio r = paired_ratio(base, program);
  EXPECT_LT(r.low, 1);
  EXPECT_GT(r.high, 1);
  EXPECT_LT(r.high / r.low, 1.06);
}

TEST(Statistics, GeometricMeanAddsIntervalsInQuadrature) {
  const kernel::Ratio a{2, 1.8, 2.2, 10}, b{8, 8, 8, 6};
  const kernel::Ratio mean = geometric_mean(std::vector{a, b});
  EXPECT_DOUBLE_EQ(mean.value, 4);
  EXPECT_NEAR(mean.low, 4 * std::sqrt(0.9), 1e-12);
  EXPECT_NEAR(mean.high, 4 * std::sqrt(1.1), 1e-12);
  EXPECT_EQ(mean.pairs, 6);
}

TEST(Statistics, FewUnpairedSamplesPoolTheirVariance) {
  // Logarithms 0.1, -0.1 and 0, 0, 0, 0 about their means: variance 0.02 / 4, t(4) = 2.776,
  // 2.776 sqrt(0.005 (1/2 + 1/4)) = 0.17.
  const std::vector<double> base{10 * std::exp(0.1), 10 * std::exp(-0.1)}, program{1, 1, 1, 1};
  const kernel::Ratio r = unpaired_ratio(base, program);
  EXPECT_NEAR(r.value, 10, 1e-9);
  EXPECT_NEAR(std::log(r.low), std::log(10) - 0.17, 1e-3);
  EXPECT_NEAR(std::log(r.high), std::log(10) + 0.17, 1e-3);
  EXPECT_EQ(r.pairs, 2);
}

TEST(Statistics, ManyUnpairedSamplesCarryBothIntervals) {
  const std::vector<double> base{100, 110, 90, 105, 95, 100}, program{10, 11, 9, 10, 10, 10};
  const kernel::Ratio r = unpaired_ratio(base, program);
  EXPECT_NEAR(r.value, 10, 0.01);
  EXPECT_LT(r.low, 9);
  EXPECT_GT(r.high, 11);
}

}  // namespace
}  // namespace ksearch::evaluate
