// Which accesses are ordered. A SIMD-group's time is cut into intervals by the barriers it passes;
// a stamp names the interval and the lane. Two accesses of one launch are ordered where one thread
// made both, or a barrier that names their memory lies between.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
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

/// All intervals of a run, of all OS threads: a thread takes blocks of numbers and fills them.
class Intervals {
 public:
  static constexpr std::uint32_t kBlock = 4096;
  static constexpr std::uint32_t kBlocks = (1u << 26) / kBlock;  // a stamp has 26 bits for them

  Intervals() : blocks_(kBlocks) {}
  /// The first number of a fresh block, or 0 where none is left.
  std::uint32_t take_block();
  Interval& operator[](std::uint32_t i) { return blocks_[i / kBlock][i % kBlock]; }
  bool full() const { return next_ >= kBlocks; }

 private:
  std::vector<std::unique_ptr<Interval[]>> blocks_;
  std::atomic<std::uint32_t> next_{1};  // number 0 is "never"
};

class Order {
 public:
  explicit Order(Intervals& intervals) : intervals_(intervals) {}
  /// `masked`: some lanes may meet without the others (CUDA).
  void begin_launch(bool masked = false);
  void begin_group(std::uint32_t group, std::uint32_t simdgroups);
  /// `orders`: ks::kOrdersDevice, ks::kOrdersGroup.
  void group_barrier(std::uint32_t orders);
  void simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t orders);

  // CUDA, where some meet and others do not: cuda_order.cpp.

  /// For each SIMD-group of the group the last interval that lies before something.
  using Past = std::vector<std::uint32_t>;
  /// All that the SIMD-group has done and knows of; what it does next is not in it.
  Past publish(std::uint32_t simdgroup);
  void learn(std::uint32_t simdgroup, const Past& past);
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
  [[gnu::always_inline]] bool ordered(Stamp before, Stamp now, MemoryKind memory) {
    Known& known = known_[(before >> 6) % known_.size()];
    if (known.before != before >> 6 || known.now != now >> 6) [[unlikely]]
      learn(known, before >> 6, now >> 6);
    const Relation r = known.relation[static_cast<std::size_t>(memory)];
    return r == Relation::before || (r == Relation::by_lane && lane(before) == lane(now)) ||
           (some_met_ && ordered_for_some(before, now));
  }
  /// The same where both may be of one thread. Lanes of one interval are told apart at once.
  [[gnu::always_inline]] bool same_thread_or_ordered(Stamp before, Stamp now, MemoryKind memory) {
    if ((before ^ now) < 2) return true;
    return !other_lane(before, now) && ordered(before, now, memory);
  }
  /// Surely another lane of the SIMD-group, that nothing has ordered since.
  bool other_lane(Stamp before, Stamp now) const {
    return before >> 6 == now >> 6 && (before ^ now) >= 2 && !some_met_;
  }
  enum class Answer : std::uint8_t { unknown, ordered, unordered };
  /// `ordered` where that needs no call; `before` is another thread's. Unknown: ask `ordered`.
  [[gnu::always_inline]] Answer known(Stamp before, Stamp now, MemoryKind memory) const {
    if (some_met_) return Answer::unknown;
    if (before >> 6 == now >> 6) return Answer::unordered;
    const Known& known = known_[(before >> 6) % known_.size()];
    if (known.before != before >> 6 || known.now != now >> 6) return Answer::unknown;
    const Relation r = known.relation[static_cast<std::size_t>(memory)];
    return r == Relation::before || (r == Relation::by_lane && lane(before) == lane(now))
               ? Answer::ordered
               : Answer::unordered;
  }
  /// A cheap test for most of what is ordered: a barrier of the running group came after it.
  bool long_ago(Stamp before, MemoryKind memory) const {
    return memory == MemoryKind::group && before >> 6 < since_barrier_;
  }
  /// The first stamp of threadgroup memory after that barrier.
  Stamp first_since_barrier() const { return since_barrier_ << 6; }
  /// Stamps from that one on, before any other barrier: nothing orders two threads' of them, and
  /// those of other intervals are other SIMD-groups'. None where lanes may meet without the others.
  Stamp fresh_stamps() const { return fresh_ << 6; }
  /// Whether the interval is of this launch; of the group that runs.
  bool of_this_launch(Stamp stamp) const { return intervals_[stamp >> 6].launch == launch_; }
  bool of_this_group(Stamp stamp) const {
    const Interval& then = intervals_[stamp >> 6];
    return then.launch == launch_ && then.group == group_;
  }
  static bool atomic(Stamp stamp) { return stamp & 1u; }
  const Interval& interval(Stamp stamp) const { return intervals_[stamp >> 6]; }
  static std::uint32_t lane(Stamp stamp) { return stamp >> 1 & 31u; }
  /// True once there are more intervals than stamps can name: no race is found from then on.
  bool full() const { return full_; }
  std::uint32_t group() const { return group_; }
  std::uint32_t launch() const { return launch_; }

 private:
  enum class Relation : std::uint8_t { unordered, by_lane, before };
  /// What was found out about two intervals: a kernel asks about the same few again and again.
  struct Known {
    std::uint32_t before = 0, now = 0;
    std::array<Relation, 2> relation{};
  };
  void learn(Known& known, std::uint32_t before, std::uint32_t now) const;
  void open(std::uint32_t simdgroup, Interval interval);
  void begin_fresh();
  void begin_meetings(std::uint32_t simdgroups);
  bool ordered_for_some(Stamp before, Stamp now) const;
  bool released(Stamp before, Stamp now) const;

  Intervals& intervals_;
  std::uint32_t next_ = 0, block_end_ = 0;
  /// The first interval since threadgroup memory was last ordered for all. Its stamps are of this
  /// thread's groups alone, and their intervals' numbers rise.
  std::uint32_t since_barrier_ = 0;
  std::uint32_t fresh_ = 0;  ///< how many intervals that barrier opened
  bool masked_ = false;
  bool full_ = false;
  std::vector<std::uint32_t> current_;  ///< of each SIMD-group
  std::array<Known, 256> known_{};
  std::uint32_t launch_ = 0, group_ = 0;

  bool some_met_ = false;   ///< what follows holds something
  std::vector<Past> past_;  ///< of each SIMD-group
  /// Of each SIMD-group: [lane][other lane]: the last interval of the other's that is before.
  std::vector<std::vector<std::array<std::uint32_t, 32>>> lanes_;
  std::unordered_map<std::uint32_t, std::uint32_t> fenced_;  ///< thread: interval
  /// Address: group: last interval that is released.
  std::unordered_map<const void*, std::unordered_map<std::uint32_t, std::uint32_t>> releases_;
  std::vector<const void*> acquired_;                         ///< by the group
  std::unordered_map<std::uint32_t, std::uint32_t> learned_;  ///< thread: interval of its group
};

}  // namespace ksearch::simt
