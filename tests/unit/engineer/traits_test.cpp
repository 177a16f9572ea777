#include "engineer/traits.h"

#include <gtest/gtest.h>

#include "unit/kernel/fixtures.h"

namespace ksearch::engineer {
namespace {

/// B = 3, L = 8, causal, bfloat16: 2*24 - 24 = 24 flops, 2*24 = 48 bytes.
kernel::HardwareProfile device(double flops, double bandwidth) {
  kernel::HardwareProfile device = kernel::device();
  device.float32_flops = flops;
  device.bandwidth = {{1, bandwidth}, {1e9, bandwidth}};
  device.l2_bytes = 40;
  return device;
}

TEST(Traits, BoundsAreSharesOfTheLeastTime) {
  // 24 flops at 1 flop/s are 24 s, 48 bytes at 2 bytes/s as many.
  const auto even = traits_of(kernel::definition(), {kernel::workload()}, device(1, 2), {});
  EXPECT_DOUBLE_EQ(even.at("bandwidth_bound"), 0.5);
  EXPECT_DOUBLE_EQ(even.at("compute_bound"), 0.5);
  const auto slow = traits_of(kernel::definition(), {kernel::workload()}, device(1, 2.0 / 3), {});
  EXPECT_DOUBLE_EQ(slow.at("bandwidth_bound"), 0.75);
  EXPECT_EQ(slow.at("small"), 0);
  EXPECT_EQ(slow.at("half_precision"), 1);
  EXPECT_EQ(slow.at("beyond_cache"), 1);
}

TEST(Traits, ShortCallsAreSmall) {
  EXPECT_EQ(traits_of(kernel::definition(), {kernel::workload()}, device(1e9, 1e9), {}).at("small"),
            1);
}

TEST(Traits, AMatrixUnitCountsForBfloat16) {
  kernel::HardwareProfile with = device(1, 2);
  with.bfloat16_flops = 1e9;
  EXPECT_GT(traits_of(kernel::definition(), {kernel::workload()}, with, {}).at("bandwidth_bound"),
            0.99);
}

TEST(Traits, WithoutFiguresNeitherBoundIsFavoured) {
  kernel::HardwareProfile unknown = kernel::device();
  const auto traits = traits_of(kernel::definition(), {kernel::workload()}, unknown, {});
  EXPECT_EQ(traits.at("bandwidth_bound"), 0.5);
  EXPECT_EQ(traits.at("small"), 0);
}

TEST(Traits, NoWorkloadsNoWeights) {
  for (const auto& [name, weight] : traits_of(kernel::definition(), {}, device(1, 1), {})) {
    EXPECT_EQ(weight, 0) << name;
  }
}

}  // namespace
}  // namespace ksearch::engineer
