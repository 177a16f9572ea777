// Two traces of the same kernel, made apart, are one when merged.
#include <gtest/gtest.h>

#include "simt/engine/trace.h"

namespace ksearch::simt {
namespace {

constexpr std::uint64_t kGap = 4096;

Trace make() { return Trace({2, 2}, {{kGap, 1024}, {3 * kGap, 512}}, 1 << 16); }

/// A group of 32 threads that loads the line at `at` and stores to threadgroup memory.
void run_group(Trace& trace, std::uint64_t at, double weight, std::uint32_t number = 0) {
  const SampledGroup sampled{number, weight};
  trace.begin_group(number, &sampled, 32);
  for (std::uint32_t t = 0; t < 32; ++t) {
    trace.begin_thread(t);
    trace.counters(t)[0] += t < 8 ? 3 : 1;
    trace.access(MemoryKind::device, at + 4 * t, 0, 4, false);
    trace.access(MemoryKind::group, 8 * t, 1, 4, true);
  }
  trace.meet();
  trace.end_group();
}

TEST(TraceMerge, SumsAndLines) {
  Trace a = make(), b = make(), both = make();
  run_group(a, kGap, 1);
  run_group(b, kGap, 4);
  run_group(b, kGap + 128, 4);
  for (const auto& [at, weight] : {std::pair{kGap, 1.0}, {kGap, 4.0}, {kGap + 128, 4.0}})
    run_group(both, at, weight);
  a.merge(b);
  for (const Trace* trace : {&a, &both}) {
    EXPECT_EQ(trace->groups(), 3u);
    EXPECT_EQ(trace->blocks()[0].threads, 9 * (8 * 3 + 24));
    EXPECT_EQ(trace->blocks()[0].simdgroups, 9 * 3);
    EXPECT_EQ(trace->blocks()[1].threads, 0);
    const BufferCounts& x = trace->buffers()[0];
    EXPECT_EQ(x.load.bytes, 9 * 128);
    EXPECT_EQ(x.load.requests, 9);
    EXPECT_EQ(x.load.lines, 9);
    EXPECT_EQ(x.group_lines, 9);
    EXPECT_EQ(x.distinct_lines, 2);
    EXPECT_EQ(trace->buffers()[1].load.bytes, 0);
    EXPECT_EQ(trace->group_store().turns, 18);
    EXPECT_EQ(trace->group_store().extra, 9);
    EXPECT_EQ(trace->site_buffers(), (std::vector<std::int32_t>{0, Trace::kGroupMemory}));
    EXPECT_EQ(trace->longest_chain(), 0u);
  }
}

TEST(TraceMerge, RunsOfFewGroupsAreKeptApart) {
  Trace a = make(), b = make();
  run_group(a, kGap, 1, 7);
  run_group(b, kGap, 0, 2);  // how long it is, and nothing else
  b.begin_group(3, nullptr, 32);
  b.end_group();
  a.merge(b);
  EXPECT_EQ(a.groups(), 1u);
  EXPECT_EQ(a.blocks()[0].simdgroups, 3);
  EXPECT_EQ(a.buffers()[0].load.requests, 1);
  ASSERT_EQ(a.group_runs().size(), 2u);
  EXPECT_EQ(a.group_runs()[0].number, 2u);
  EXPECT_EQ(a.group_runs()[1].number, 7u);
  for (const GroupRuns& group : a.group_runs())
    EXPECT_EQ(group.blocks, (std::vector<std::uint64_t>{3, 0}));
}

TEST(TraceMerge, WhatIsBoundToConstantIsCountedApart) {
  Trace trace = make();
  trace.begin_launch({true, false});
  run_group(trace, kGap, 1);
  EXPECT_EQ(trace.buffers()[0].load.bytes, 0);
  EXPECT_EQ(trace.buffers()[0].constant.bytes, 128);
  EXPECT_EQ(trace.buffers()[0].constant.requests, 1);
  EXPECT_EQ(trace.buffers()[0].group_lines, 0);
}

TEST(TraceMerge, AtomicsMoveBytesAndAreCounted) {
  Trace trace = make();
  const SampledGroup sampled{0, 2};
  trace.begin_group(0, &sampled, 1);
  trace.begin_thread(0);
  trace.atomic(MemoryKind::device, 3 * kGap, 4, true, true);
  trace.atomic(MemoryKind::group, 0, 4, true, false);
  trace.end_group();
  EXPECT_EQ(trace.buffers()[1].atomics, 2);
  EXPECT_EQ(trace.buffers()[1].load.bytes, 8);
  EXPECT_EQ(trace.buffers()[1].store.bytes, 8);
  EXPECT_EQ(trace.group_atomics(), 2);
  EXPECT_EQ(trace.group_store().bytes, 0);
}

TEST(TraceMerge, AGroupThatIsNotTracedLeavesNothing) {
  Trace trace = make();
  run_group(trace, kGap, 0);
  EXPECT_EQ(trace.groups(), 0u);
  EXPECT_EQ(trace.blocks()[0].threads, 0);
}

}  // namespace
}  // namespace ksearch::simt
