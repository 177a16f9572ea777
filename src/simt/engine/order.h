// Which accesses are ordered. A SIMD-group's time is cut into intervals by the barriers it passes;
// a stamp names the interval and the lane. Two accesses of one launch are ordered where one thread
// made both, or a barrier that names their memory lies between.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
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
  void begin_launch();
  void begin_group(std::uint32_t group, std::uint32_t simdgroups);
  /// `orders`: ks::kOrdersDevice, ks::kOrdersGroup.
  void group_barrier(std::uint32_t orders);
  void simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t orders);

  // CUDA: some meet and others do not.

  /// For each SIMD-group of the group the last interval that lies before something.
  using Known = std::vector<std::uint32_t>;
  /// All that the SIMD-group has done and knows of; what it does next is not in it.
  Known publish(std::uint32_t simdgroup);
  void learn(std::uint32_t simdgroup, const Known& known);
  /// What lanes of `mask` did is before what they do next.
  void lanes_met(std::uint32_t simdgroup, std::uint32_t mask);
  /// A fence of a thread, then its atomic operation: who later operates on the same address, a
  /// thread of this group or another group, comes after all that was done until the fence.
  void fence(std::uint32_t simdgroup, std::uint32_t thread);
  void atomic_operation(const void* at, std::uint32_t thread);

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
  bool known(Stamp before, Stamp now) const;
  bool released(Stamp before, Stamp now) const;

  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> current_;  ///< of each SIMD-group
  std::vector<Known> known_;            ///< of each SIMD-group
  /// Of each SIMD-group, where lanes met: [lane][other lane]: the last interval of the other's that
  /// is known.
  std::vector<std::vector<std::array<std::uint32_t, 32>>> lanes_;
  std::unordered_map<std::uint32_t, std::uint32_t> fenced_;  ///< thread: interval
  /// Address: group: last interval that is released.
  std::unordered_map<const void*, std::unordered_map<std::uint32_t, std::uint32_t>> releases_;
  std::vector<const void*> acquired_;                         ///< by the group
  std::unordered_map<std::uint32_t, std::uint32_t> learned_;  ///< thread: interval of its group
  std::uint32_t launch_ = 0, group_ = 0;
};

}  // namespace ksearch::simt
