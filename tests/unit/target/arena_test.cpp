#include "target/arena.h"

#include <gtest/gtest.h>

namespace ksearch::target {
namespace {

TEST(Arena, EndsTouchAGuardPageUpToTheAlignment) {
  for (const std::size_t bytes : {1u, 4u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 100000u}) {
    Arena arena;
    const Buffer b = arena.add("a", bytes);
    arena.close();
    EXPECT_EQ(b.offset % kAlignment, 0u) << bytes;
    const Range guard = arena.guards().back();
    EXPECT_EQ(guard.offset % kPage, 0u);
    EXPECT_LT(guard.offset - (b.offset + bytes), kAlignment) << bytes;
    EXPECT_LE(arena.guards().front().offset + kGuard, b.offset);
    EXPECT_EQ(arena.bytes(), guard.offset + kGuard);
  }
}

TEST(Arena, WithoutGuardsBuffersStartOnAPage) {
  Arena arena;
  EXPECT_EQ(arena.add("a", 100, false).offset % kPage, 0u);
}

TEST(Arena, EmptyBuffersHaveAPlaceOfTheirOwn) {
  Arena arena;
  const Buffer a = arena.add("a", 0);
  const Buffer b = arena.add("b", 8);
  EXPECT_LT(a.offset, b.offset);
}

TEST(Canaries, SeeOneByteOnEitherSide) {
  Arena arena;
  arena.add("a", 100);
  const Buffer out = arena.add("out", 30);
  arena.close();
  std::vector<std::byte> memory(arena.bytes());
  draw_canaries(arena, memory);
  EXPECT_TRUE(damaged_canaries(arena, memory).empty());
  for (std::size_t i = 0; i < out.bytes; ++i) memory[out.offset + i] = std::byte{9};
  EXPECT_TRUE(damaged_canaries(arena, memory).empty());

  memory[out.offset + out.bytes] ^= std::byte{1};
  const auto past = damaged_canaries(arena, memory);
  ASSERT_EQ(past.size(), 1u);
  EXPECT_EQ(past[0].kind, "out_of_bounds");
  EXPECT_EQ(past[0].buffer, "out");
  EXPECT_EQ(past[0].message, "writes past the end of out (30 bytes long), 0 bytes off, 1 byte");

  draw_canaries(arena, memory);
  memory[out.offset - 3] ^= std::byte{1};
  const auto before = damaged_canaries(arena, memory);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].message,
            "writes before the start of out (30 bytes long), 3 bytes off, 1 byte");
}

TEST(Faults, NameTheNearestBufferAndItsSide) {
  Arena arena;
  const Buffer a = arena.add("a", 4096);
  const Buffer out = arena.add("out", 64);
  arena.close();
  EXPECT_EQ(explain_fault(arena, a.offset + 4096, true)->message,
            "writes past the end of a (4096 bytes long), 0 bytes off");
  EXPECT_EQ(explain_fault(arena, out.offset + 64 + 4, false)->message,
            "reads past the end of out (64 bytes long), 4 bytes off");
  EXPECT_EQ(explain_fault(arena, a.offset - 8, false)->message,
            "reads before the start of a (4096 bytes long), 8 bytes off");
  EXPECT_FALSE(explain_fault(arena, a.offset + 5, true));
}

}  // namespace
}  // namespace ksearch::target
