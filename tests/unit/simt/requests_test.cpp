// Requests of SIMD-groups to memory, without a kernel: lines, banks, neighbours that are one
// access.
#include "simt/engine/requests.h"

#include <gtest/gtest.h>

#include <functional>

namespace ksearch::simt {
namespace {

struct Seen {
  std::uint32_t site;
  std::size_t units, most_in_a_bank;
  std::uint32_t lanes;
  bool operator==(const Seen&) const = default;
};

/// `run` is what each lane does.
std::vector<Seen> requests(std::uint32_t lanes,
                           const std::function<void(Requests&, std::uint32_t)>& run) {
  Requests requests(16);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    requests.begin_lane();
    run(requests, lane);
  }
  std::vector<Seen> seen;
  requests.finish([&](const Request& request) {
    seen.push_back(
        {request.site, request.units.size(), request.units.most_in_a_bank(), request.lanes});
  });
  return seen;
}

std::size_t lines(std::uint64_t start, std::uint64_t stride, std::size_t bytes) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    r.add(0, MemoryKind::device, false, start + lane * stride, bytes);
  });
  EXPECT_EQ(seen.size(), 1u);
  return seen.at(0).units;
}

std::size_t turns(std::uint64_t stride, std::size_t bytes) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    r.add(0, MemoryKind::group, false, 256 + lane * stride, bytes);
  });
  EXPECT_EQ(seen.size(), 1u);
  return seen.at(0).most_in_a_bank;
}

TEST(Requests, LinesOfOneRequest) {
  EXPECT_EQ(lines(0, 4, 4), 1u);
  EXPECT_EQ(lines(32, 4, 4), 2u);
  EXPECT_EQ(lines(0, 0, 4), 1u);
  EXPECT_EQ(lines(0, 128, 4), 32u);
  EXPECT_EQ(lines(124, 128, 8), 33u);
  EXPECT_EQ(lines(0, 16, 16), 4u);
  EXPECT_EQ(lines(1 << 20, 1 << 16, 4), 32u);  // far apart
}

TEST(Requests, LanesThatRunBackwards) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    r.add(0, MemoryKind::device, false, (1 << 20) - lane * 256, 4);
  });
  EXPECT_EQ(seen.at(0).units, 32u);
}

TEST(Requests, TurnsOfThreadgroupMemory) {
  EXPECT_EQ(turns(4, 4), 1u);
  EXPECT_EQ(turns(0, 4), 1u);
  EXPECT_EQ(turns(2, 2), 1u);
  EXPECT_EQ(turns(8, 4), 2u);
  EXPECT_EQ(turns(64, 4), 16u);
  EXPECT_EQ(turns(128, 4), 32u);
  EXPECT_EQ(turns(132, 4), 1u);
  EXPECT_EQ(turns(8, 8), 2u);
  EXPECT_EQ(turns(16, 16), 4u);
}

TEST(Requests, NeighboursOfOneLaneAreOneAccess) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    for (std::uint32_t i = 0; i < 8; ++i) r.add(i, MemoryKind::device, false, lane * 16 + i * 2, 2);
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{0, 4, 1, 32}}));
}

TEST(Requests, AlsoFromTheEndAndBetweenOthers) {
  const auto seen = requests(4, [&](Requests& r, std::uint32_t lane) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      r.add(i, MemoryKind::device, false, lane * 16 + (3 - i) * 4, 4);
      r.add(4 + i, MemoryKind::device, false, 4096 + lane * 512 + i * 4, 4);
    }
  });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].units, 1u);
  EXPECT_EQ(seen[1].units, 4u);
}

TEST(Requests, MoreThanSixteenBytesAreTwo) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    for (std::uint32_t i = 0; i < 8; ++i) r.add(i, MemoryKind::device, false, lane * 32 + i * 4, 4);
  });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].site, 0u);
  EXPECT_EQ(seen[1].site, 4u);
}

TEST(Requests, OneInstructionRunTwiceIsTwoRequests) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    for (std::uint32_t i = 0; i < 3; ++i) r.add(0, MemoryKind::device, false, lane * 12 + i * 4, 4);
  });
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Requests, AStoreIsNoLoadsNeighbour) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    r.add(0, MemoryKind::device, false, lane * 8, 4);
    r.add(1, MemoryKind::device, true, lane * 8 + 4, 4);
  });
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Requests, ADivergentLaneTakesNoPart) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    if (lane % 2 == 0) r.add(0, MemoryKind::device, false, lane * 4, 4);
    r.add(1, MemoryKind::device, false, 4096 + lane * 4, 4);
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{0, 1, 1, 16}, {1, 1, 1, 32}}));
}

TEST(Requests, NeighboursInSomeLanesOnlyAreTwo) {
  const auto seen = requests(32, [&](Requests& r, std::uint32_t lane) {
    r.add(0, MemoryKind::device, false, lane * 8, 4);
    r.add(1, MemoryKind::device, false, lane < 16 ? lane * 8 + 4 : 8192, 4);
  });
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Requests, NothingIsLeftForTheNextMeeting) {
  Requests requests(2);
  const auto count = [&] {
    int n = 0;
    requests.finish([&](const Request& request) {
      ++n;
      EXPECT_EQ(request.units.size(), 1u);
    });
    return n;
  };
  for (int round = 0; round < 3; ++round) {
    requests.begin_lane();
    requests.add(1, MemoryKind::device, false, static_cast<std::uint64_t>(round) * 4096, 4);
    EXPECT_EQ(count(), 1);
  }
  EXPECT_EQ(count(), 0);
}

}  // namespace
}  // namespace ksearch::simt
