// Which groups are traced: every stratum has its part, and the weights stand for all groups.
#include "simt/engine/sample.h"

#include <gtest/gtest.h>

#include <set>

namespace ksearch::simt {
namespace {

using Groups = std::array<std::uint32_t, 3>;

TEST(Sample, AllGroupsWhereTheyAreFew) {
  for (const std::uint32_t most : {0u, 12u, 13u}) {
    const auto sample = sample_groups({4, 3, 1}, most, 7);
    ASSERT_EQ(sample.size(), 12u);
    for (std::uint32_t i = 0; i < 12; ++i) {
      EXPECT_EQ(sample[i].number, i);
      EXPECT_EQ(sample[i].weight, 1);
    }
  }
}

TEST(Sample, CornersEdgesAndInterior) {
  const auto sample = sample_groups({100, 50, 1}, 64, 1);
  std::set<std::uint32_t> numbers;
  int left = 0, top = 0, interior = 0;
  for (const SampledGroup& group : sample) {
    numbers.insert(group.number);
    const std::uint32_t x = group.number % 100, y = group.number / 100;
    left += x == 0 && y > 0 && y < 49;
    top += y == 0 && x > 0 && x < 99;
    interior += x > 0 && x < 99 && y > 0 && y < 49;
  }
  EXPECT_EQ(numbers.size(), sample.size());
  for (const std::uint32_t corner : {0u, 99u, 4900u, 4999u}) EXPECT_TRUE(numbers.contains(corner));
  EXPECT_GE(left, 1);
  EXPECT_GE(top, 1);
  EXPECT_GE(interior, 50);
  EXPECT_LE(sample.size(), 72u);
}

TEST(Sample, WeightsStandForAllGroups) {
  for (const Groups groups : {Groups{1000, 1, 1}, Groups{33, 7, 5}, Groups{2, 2, 999}}) {
    double sum = 0;
    for (const SampledGroup& group : sample_groups(groups, 40, 3)) sum += group.weight;
    EXPECT_NEAR(sum, double(groups[0]) * groups[1] * groups[2], 1e-6);
  }
}

TEST(Sample, WorkThatGrowsIsEstimated) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    double estimate = 0;
    for (const SampledGroup& group : sample_groups({256, 8, 1}, 64, seed))
      estimate += group.weight * (group.number % 256 + 1);
    EXPECT_NEAR(estimate / (8 * 256 * 257 / 2.0), 1, 0.03) << seed;
  }
}

TEST(Sample, FewGroupsOfManyEstimateWorkThatGrows) {
  for (const std::uint32_t most : {2u, 4u, 6u, 7u, 12u})
    for (const Groups groups : {Groups{64, 8, 1}, Groups{8, 64, 1}, Groups{1, 8, 64}})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        double estimate = 0, sum = 0;
        for (const SampledGroup& group : sample_groups(groups, most, seed)) {
          const std::uint32_t x = group.number % groups[0],
                              y = group.number / groups[0] % groups[1],
                              z = group.number / groups[0] / groups[1];
          const std::uint32_t along = groups[0] == 64 ? x : groups[1] == 64 ? y : z;
          estimate += group.weight * (along + 1);
          sum += group.weight;
        }
        EXPECT_NEAR(sum, 512, 1e-6);
        EXPECT_NEAR(estimate / (8 * 64 * 65 / 2.0), 1, 0.03) << seed << " " << most;
      }
}

TEST(Sample, FewGroupsAreExactForWorkThatGrowsEvenlyAlongAnyDimension) {
  for (const std::uint32_t most : {2u, 4u, 6u, 7u})
    for (const Groups groups : {Groups{8, 8, 1}, Groups{64, 8, 1}, Groups{7, 8, 9}})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        double estimate = 0, truth = 0;
        for (const SampledGroup& group : sample_groups(groups, most, seed))
          estimate += group.weight * (1 + 3 * (group.number % groups[0]) +
                                      7 * (group.number / groups[0] % groups[1]) +
                                      2 * (group.number / groups[0] / groups[1]));
        for (std::uint32_t g = 0; g < groups[0] * groups[1] * groups[2]; ++g)
          truth += 1 + 3 * (g % groups[0]) + 7 * (g / groups[0] % groups[1]) +
                   2 * (g / groups[0] / groups[1]);
        EXPECT_NEAR(estimate / truth, 1, most % 2 == 0 ? 1e-9 : 0.03) << seed << " " << most;
      }
}

TEST(Sample, BesideAPairACornerTellsAlongWhichDimensionGroupsGrow) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Groups groups :
         {Groups{4, 8, 1}, Groups{5, 8, 1}, Groups{5, 3, 1}, Groups{16, 1, 3}}) {
      const auto sample = sample_groups(groups, 2, seed);
      ASSERT_EQ(sample.size(), 3u);
      std::array<std::array<double, 2>, 3> at{};
      double weight = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        weight += sample[i].weight;
        at[i] = {double(sample[i].number % groups[0]), double(sample[i].number / groups[0])};
      }
      EXPECT_EQ(weight, double(groups[0]) * groups[1] * groups[2]);
      const double area = (at[1][0] - at[0][0]) * (at[2][1] - at[0][1]) -
                          (at[1][1] - at[0][1]) * (at[2][0] - at[0][0]);
      EXPECT_NE(area, 0) << seed;
    }
  EXPECT_EQ(sample_groups({64, 1, 1}, 2, 1).size(), 2u);
}

// A mirror image may be the group itself, where sizes are odd.
TEST(Sample, NoGroupIsChosenTwice) {
  for (const Groups groups : {Groups{3, 1, 1}, Groups{7, 1, 1}, Groups{1, 1, 10}, Groups{5, 3, 1},
                              Groups{3, 3, 3}, Groups{2, 2, 9}, Groups{1, 13, 13}})
    for (std::uint32_t most = 1; most < 12; ++most)
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto sample = sample_groups(groups, most, seed);
        std::set<std::uint32_t> numbers;
        double weight = 0;
        for (const SampledGroup& group : sample) {
          numbers.insert(group.number);
          weight += group.weight;
        }
        EXPECT_EQ(numbers.size(), sample.size()) << most << " of " << groups[0] << " " << seed;
        EXPECT_NEAR(weight, double(groups[0]) * groups[1] * groups[2], 1e-9);
      }
}

TEST(Sample, ASeedChoosesTheSameAlways) {
  const auto numbers = [](std::uint64_t seed) {
    std::vector<std::uint32_t> result;
    for (const SampledGroup& group : sample_groups({500, 1, 1}, 20, seed))
      result.push_back(group.number);
    return result;
  };
  EXPECT_EQ(numbers(5), numbers(5));
  EXPECT_NE(numbers(5), numbers(6));
}

}  // namespace
}  // namespace ksearch::simt
