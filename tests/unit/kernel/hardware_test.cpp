#include "kernel/hardware.h"

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

TEST(Hardware, GoesThereAndBack) {
  HardwareProfile p = device();
  p.bandwidth = {{1024, 1e11}, {1048576, 1e10}};
  const auto again = parse_hardware(to_json(p), "p");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(p));
}

TEST(Hardware, InterpolatesBandwidthOnLogarithmicScales) {
  HardwareProfile p;
  p.bandwidth = {{100, 1000}, {10000, 10}};
  EXPECT_DOUBLE_EQ(bandwidth_at(p, 50), 1000);
  EXPECT_NEAR(bandwidth_at(p, 1000), 100, 1e-9);
  EXPECT_DOUBLE_EQ(bandwidth_at(p, 1e9), 10);
  EXPECT_EQ(bandwidth_at(HardwareProfile{}, 100), 0);
}

}  // namespace
}  // namespace ksearch::kernel
