#include "simt/engine/order.h"

#include "simt/device/ks_abi.h"

namespace ksearch::simt {

std::uint32_t Intervals::take_block() {
  const std::uint32_t block = next_.fetch_add(1);
  if (block >= kBlocks) {
    next_ = kBlocks;
    return 0;
  }
  blocks_[block] = std::make_unique<Interval[]>(kBlock);
  return block * kBlock;
}

void Order::open(std::uint32_t simdgroup, Interval interval) {
  if (next_ == block_end_ && !full_) {
    next_ = intervals_.take_block();
    block_end_ = next_ + Intervals::kBlock;
    full_ = next_ == 0;
  }
  if (full_) return;
  current_[simdgroup] = next_;
  intervals_[next_++] = interval;
}

void Order::begin_group(std::uint32_t group, std::uint32_t simdgroups) {
  group_ = group;
  current_.assign(simdgroups, 0);
  for (std::uint32_t i = 0; i < simdgroups; ++i)
    open(i, {.launch = launch_, .group = group, .simdgroup = i});
  begin_fresh();
  begin_meetings(simdgroups);
}

void Order::group_barrier(std::uint32_t orders) {
  if (orders == 0 || full_) return;
  for (std::uint32_t i = 0; i < current_.size(); ++i) {
    Interval next = intervals_[current_[i]];
    if (orders & ks::kOrdersDevice) ++next.epoch[0];
    if (orders & ks::kOrdersGroup) ++next.epoch[1];
    open(i, next);
  }
  if (orders & ks::kOrdersGroup) begin_fresh();
}

void Order::begin_fresh() {
  since_barrier_ = current_.empty() ? 0 : current_.front();
  const auto count = static_cast<std::uint32_t>(current_.size());
  const bool in_a_row = count != 0 && current_.back() - since_barrier_ == count - 1;
  fresh_ = in_a_row && !masked_ ? count : 0;
}

void Order::simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t orders) {
  if (orders == 0 || full_) return;
  Interval next = intervals_[current_[simdgroup]];
  if (orders & ks::kOrdersDevice) ++next.simd_epoch[0];
  if (orders & ks::kOrdersGroup) ++next.simd_epoch[1];
  open(simdgroup, next);
}

void Order::learn(Known& known, std::uint32_t before, std::uint32_t now) const {
  const Interval& a = intervals_[before];
  const Interval& b = intervals_[now];
  known = {before, now, {}};
  for (std::size_t m = 0; m < 2; ++m) {
    Relation& r = known.relation[m];
    const bool each_group_has_its_own = m == static_cast<std::size_t>(MemoryKind::group);
    if (a.launch != b.launch)
      r = Relation::before;
    else if (a.group != b.group)
      r = each_group_has_its_own ? Relation::before : Relation::unordered;
    else if (a.epoch[m] != b.epoch[m])
      r = Relation::before;
    else if (a.simdgroup == b.simdgroup)
      r = a.simd_epoch[m] != b.simd_epoch[m] ? Relation::before : Relation::by_lane;
    else
      r = Relation::unordered;
  }
}

}  // namespace ksearch::simt
