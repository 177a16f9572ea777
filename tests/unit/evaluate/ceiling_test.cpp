#include "evaluate/ceiling.h"

#include <gtest/gtest.h>

namespace ksearch::evaluate {
namespace {

kernel::HardwareProfile gpu() {
  kernel::HardwareProfile device;
  device.float32_flops = 2e12;
  device.special_function_cost = 4;
  device.bandwidth = {{1e9, 1e11}};
  return device;
}

TEST(Ceiling, IsTheLargerOfArithmeticAndTraffic) {
  kernel::Work work;
  work.flops = 2e6;
  work.bytes = 5e4;
  EXPECT_DOUBLE_EQ(ceiling_of(work, {}, gpu()).ns, 1000);
  EXPECT_EQ(ceiling_of(work, {}, gpu()).bound_by, "compute");
  work.bytes = 2e5;
  EXPECT_DOUBLE_EQ(ceiling_of(work, {}, gpu()).ns, 2000);
  EXPECT_EQ(ceiling_of(work, {}, gpu()).bound_by, "bandwidth");
}

TEST(Ceiling, SpecialFunctionsTakeSlotsWhereTheirCostIsKnown) {
  kernel::Work work;
  work.flops = 2e6;
  work.operations = 2e6;
  work.special_functions = 1e6;
  EXPECT_DOUBLE_EQ(ceiling_of(work, {}, gpu()).ns, 6000);
  kernel::HardwareProfile cpu = gpu();
  cpu.special_function_cost = 0;
  EXPECT_DOUBLE_EQ(ceiling_of(work, {}, cpu).ns, 1000);
}

}  // namespace
}  // namespace ksearch::evaluate
