#include "base/random.h"

#include <gtest/gtest.h>

namespace ksearch::base {
namespace {

// SplitMix64's published first outputs for seed 1234567.
TEST(Random, GivesSplitMix64) {
  Random r(1234567);
  EXPECT_EQ(r.next(), 6457827717110365317ull);
  EXPECT_EQ(r.next(), 3203168211198807973ull);
}

TEST(Random, ForksByNameAndLeavesItselfAlone) {
  Random a(7);
  const Random b(7);
  EXPECT_EQ(a.fork("x").next(), b.fork("x").next());
  EXPECT_NE(a.fork("x").next(), a.fork("y").next());
  EXPECT_EQ(a.state(), b.state());
}

TEST(Random, BelowStaysBelow) {
  Random r(3);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(r.below(7), 7u);
  EXPECT_EQ(r.below(1), 0u);
}

}  // namespace
}  // namespace ksearch::base
