// Which accesses are ordered. A SIMD-group's time is cut into intervals by the barriers it passes;
// a stamp names the interval and the lane. Two accesses of one launch are ordered where one thread
// made both, or a barrier that names their memory lies between.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simt/engine/memory.h"

namespace ksearch::simt {

enum class MemoryKind : std::uint8_t { device = 0, group = 1 };

struct Interval {
  std::uint32_t launch = 0, group = 0, simdgroup = 0;
  std::array<std::uint32_t, 2> epoch{};       ///< barriers of the group passed, for each MemoryKind
  std::array<std::uint32_t, 2> simd_epoch{};  ///< barriers of the SIMD-group
};

class Order {
 public:
  static constexpr std::uint32_t kMostIntervals = (1u << 26) - 1;

  Order() : intervals_(1) {}
  void begin_launch() { ++launch_; }
  void begin_group(std::uint32_t group, std::uint32_t simdgroups);
  /// `orders`: ks::kOrdersDevice, ks::kOrdersGroup.
  void group_barrier(std::uint32_t orders);
  void simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t orders);

  Stamp stamp(std::uint32_t simdgroup, std::uint32_t lane, bool atomic) const {
    return current_[simdgroup] << 6 | lane << 1 | (atomic ? 1u : 0u);
  }
  /// Whether what `before` says happened before what `now` does, now.
  bool ordered(Stamp before, Stamp now, MemoryKind memory) const;
  /// Whether the interval is of the group that runs.
  bool of_this_group(Stamp stamp) const {
    const Interval& then = intervals_[stamp >> 6];
    return then.launch == launch_ && then.group == group_;
  }
  static bool atomic(Stamp stamp) { return stamp & 1u; }
  const Interval& interval(Stamp stamp) const { return intervals_[stamp >> 6]; }
  static std::uint32_t lane(Stamp stamp) { return stamp >> 1 & 31u; }
  /// True once there are more intervals than stamps can name: no race is found from then on.
  bool full() const { return intervals_.size() >= kMostIntervals; }

 private:
  void open(std::uint32_t simdgroup, Interval interval);

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> current_;  ///< of each SIMD-group
  std::uint32_t launch_ = 0, group_ = 0;
};

}  // namespace ksearch::simt
