// Lengths of groups from a few of them, and when the last one ends, against cases on paper.
#include "target/metal/group_lengths.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ksearch::target {
namespace {

using Lengths = std::vector<double>;

TEST(GroupLengths, GrowAlongTheDimensionThatThreeGroupsTell) {
  // Four blocks of two heads; block x takes x + 1: mean 2.5.
  const Grid grid{4, 2, 1};
  const std::vector<MeasuredGroup> by_block{{0, 1}, {2, 3}, {5, 2}};
  const Lengths lengths = group_lengths(grid, by_block);
  ASSERT_EQ(lengths.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(lengths[i], static_cast<double>(i % 4 + 1) / 2.5, 1e-12);
  // The second head takes three times the first.
  const std::vector<MeasuredGroup> by_head{{0, 1}, {2, 1}, {5, 3}};
  const Lengths heads = group_lengths(grid, by_head);
  ASSERT_EQ(heads.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(heads[i], i < 4 ? .5 : 1.5, 1e-12);
}

// The first three are almost on a line: what one does more than the plane says would be taken for
// growth.
TEST(GroupLengths, GrowAsAllThatWereMeasuredSay) {
  const std::vector<MeasuredGroup> six{{10, 100},  {85, 110},  {159, 100},
                                       {352, 100}, {426, 100}, {501, 100}};
  const Lengths lengths = group_lengths({64, 8, 1}, six);
  ASSERT_EQ(lengths.size(), 512u);
  for (const double length : lengths) EXPECT_NEAR(length, 1, 0.1);
}

TEST(GroupLengths, AreUnknownOrAlike) {
  const std::vector<MeasuredGroup> two{{1, 2}, {6, 3}}, alike{{1, 200}, {6, 201}};
  EXPECT_TRUE(group_lengths({4, 2, 1}, two).empty());  // block or head?
  EXPECT_EQ(group_lengths({8, 1, 1}, two).size(), 8u);
  EXPECT_TRUE(group_lengths({8, 1, 1}, alike).empty());
  EXPECT_TRUE(group_lengths({}, two).empty());
  EXPECT_TRUE(group_lengths({4, 1, 1}, two).empty());  // of another launch
  const std::vector<MeasuredGroup> line{{0, 1}, {5, 2}, {10, 3}};
  EXPECT_TRUE(group_lengths({4, 3, 1}, line).empty());  // nothing beside the diagonal
}

TEST(GroupLengths, AreWhatWasMeasuredWhereAllWere) {
  const std::vector<MeasuredGroup> all{{0, 4}, {1, 1}, {2, 1}};
  EXPECT_EQ(group_lengths({3, 1, 1}, all), (Lengths{2, .5, .5}));
}

TEST(GroupLengths, OneThatIsLeftOverTakesARoundOfItsOwn) {
  const Lengths alike(33, 1.0);
  EXPECT_NEAR(shared_end(alike, {32, 1, 1}), 2, 1e-12);
  EXPECT_NEAR(shared_end(alike, {32, 2, 1}), 2, 1e-12);  // two share a core
  EXPECT_NEAR(lone_end(alike, {32, 1, 1}), 2, 1e-12);
  EXPECT_NEAR(lone_end(alike, {32, 2, 1}), 1, 1e-12);
}

TEST(GroupLengths, TheOrderDecidesWhereLongOnesComeLast) {
  const Lengths rising{1, 2, 3, 4}, falling{4, 3, 2, 1};
  EXPECT_NEAR(shared_end(rising, {2, 1, 1}), 6, 1e-12);   // 1 and 3, 2 and 4
  EXPECT_NEAR(shared_end(falling, {2, 1, 1}), 5, 1e-12);  // 4 and 1, 3 and 2
  EXPECT_NEAR(lone_end(rising, {2, 1, 1}), 6, 1e-12);
  EXPECT_NEAR(lone_end(falling, {1, 2, 1}), 5, 1e-12);
}

TEST(GroupLengths, GroupsOnACoreShareIt) {
  // 1 and 3 together: at 2 the short one has ended, the other has 2 left and the core to itself.
  EXPECT_NEAR(shared_end(Lengths{1, 3}, {1, 2, 1}), 4, 1e-12);
  // Half a core is all that one can use: 2 for the first half, 4 more for what is left.
  EXPECT_NEAR(shared_end(Lengths{1, 3}, {1, 2, .5}), 6, 1e-12);
}

}  // namespace
}  // namespace ksearch::target
