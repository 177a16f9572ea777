// Cells by page: words where that is enough, bytes where it is not, and an end of memory.
#include <gtest/gtest.h>

#include "kernel_test.h"
#include "simt/engine/cells.h"

namespace ksearch::simt {
namespace {

TEST(CellsTest, APageIsCutAsFineAsItsAccesses) {
  CellPool pool(1 << 20);
  Cells cells(1 << 16, pool);
  Cells::Run run = cells.cover(64, 8);
  EXPECT_EQ(run.shift, 2);
  run.first[0].writer = 64;
  run = cells.cover(66, 2);
  EXPECT_EQ(run.shift, 1);
  EXPECT_EQ(run.first->writer, 64u);  // what was known of the word holds for its half
  run.first->writer = 128;
  run = cells.cover(65, 1);
  EXPECT_EQ(run.shift, 0);
  EXPECT_EQ(cells.find(65)->writer, 64u);
  EXPECT_EQ(cells.find(67)->writer, 128u);
  EXPECT_EQ(cells.cover(4096, 4).shift, 2);
}

TEST(CellsTest, WhatHasNoRoomIsNotWatchedAndSaysSo) {
  CellPool pool(Cells::kPage / 4 * sizeof(Cell));  // one page of words
  Cells cells(1 << 16, pool);
  EXPECT_NE(cells.cover(0, 4).first, nullptr);
  EXPECT_EQ(cells.cover(8192, 4).first, nullptr);
  EXPECT_EQ(cells.unwatched(0, 1 << 16), Cells::kPage);
}

TEST(CellsTest, ACopyOnTopLeavesTheBaseAlone) {
  CellPool pool(1 << 20);
  Cells base(1 << 16, pool);
  base.cover(0, 4).first->writer = 64;
  Cells top(1 << 16, pool, &base);
  EXPECT_EQ(top.find(0)->writer, 64u);
  top.cover(0, 4).first->writer = 128;
  EXPECT_EQ(base.find(0)->writer, 64u);
  EXPECT_TRUE(base.merge({&top}, [](Cell& into, const Cell& from) {
    into.writer = from.writer;
    return true;
  }));
  EXPECT_EQ(base.find(0)->writer, 128u);
}

class Memory : public KernelTest {};

TEST_F(Memory, BeyondTheLimitTheTraceSaysWhatWasNotWatched) {
  // 64 MiB of single bytes need 1280 MiB of cells; the limit leaves 256.
  const Case all = make(
      "kernel void k(device const uchar* x [[buffer(0)]], device uint* y [[buffer(1)]],\n"
      "  uint i [[thread_position_in_grid]]) {\n"
      "  uint sum = 0;\n  for (uint n = 0; n < 8; ++n) sum += x[i * 32768 + n * 4096 + 1];\n"
      "  y[i] = sum;\n}\n",
      8, 256, {"x=u8:67108864:const:3", "y=u32:2048"});
  CheckOptions options;
  options.memory_bytes = 64 << 20;
  const Report report = run(all, options);
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(values<std::uint32_t>(report, "y")[5], 24u);
  EXPECT_GT(report.trace["unwatched_bytes"].get<std::uint64_t>(), 0u);
  EXPECT_LT(report.trace["unwatched_bytes"].get<std::uint64_t>(), 67108864u);
}

}  // namespace
}  // namespace ksearch::simt
