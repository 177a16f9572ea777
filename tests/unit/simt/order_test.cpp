#include "simt/engine/order.h"

#include <gtest/gtest.h>

namespace ksearch::simt {
namespace {

class OrderTest : public testing::Test {
 protected:
  void SetUp() override {
    order_.begin_launch();
    order_.begin_group(1, 2);
  }
  Stamp at(std::uint32_t simdgroup, std::uint32_t lane) {
    return order_.stamp(simdgroup, lane, false);
  }
  Intervals intervals_;
  Order order_{intervals_};
};

TEST_F(OrderTest, OneThreadIsOrderedWithItself) {
  EXPECT_TRUE(order_.ordered(at(0, 3), at(0, 3), MemoryKind::group));
}

TEST_F(OrderTest, LanesOfASimdgroupAreNot) {
  EXPECT_FALSE(order_.ordered(at(0, 3), at(0, 4), MemoryKind::group));
}

TEST_F(OrderTest, ABarrierOrdersTheMemoryThatItNames) {
  const Stamp before = at(0, 0);
  order_.group_barrier(ks::kOrdersGroup);
  EXPECT_TRUE(order_.ordered(before, at(1, 5), MemoryKind::group));
  EXPECT_FALSE(order_.ordered(before, at(1, 5), MemoryKind::device));
}

TEST_F(OrderTest, ABarrierThatNamesNoneOrdersNothing) {
  const Stamp before = at(0, 0);
  order_.group_barrier(0);
  EXPECT_FALSE(order_.ordered(before, at(1, 5), MemoryKind::group));
}

TEST_F(OrderTest, ASimdgroupBarrierOrdersOneSimdgroup) {
  const Stamp mine = at(0, 0);
  order_.simdgroup_barrier(0, ks::kOrdersGroup);
  EXPECT_TRUE(order_.ordered(mine, at(0, 1), MemoryKind::group));
  EXPECT_FALSE(order_.ordered(mine, at(1, 1), MemoryKind::group));
}

TEST_F(OrderTest, NothingOrdersTheGroupsOfALaunch) {
  const Stamp first = at(0, 0);
  order_.begin_group(2, 2);
  EXPECT_FALSE(order_.ordered(first, at(0, 0), MemoryKind::device));
  EXPECT_TRUE(order_.ordered(first, at(0, 0), MemoryKind::group));  // another array
}

TEST_F(OrderTest, LaunchesAreOrdered) {
  const Stamp first = at(0, 0);
  order_.begin_launch();
  order_.begin_group(1, 1);
  EXPECT_TRUE(order_.ordered(first, at(0, 7), MemoryKind::device));
}

}  // namespace
}  // namespace ksearch::simt
