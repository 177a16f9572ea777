#include "simt/engine/order.h"

#include "simt/device/ks_abi.h"

namespace ksearch::simt {

void Order::open(std::uint32_t simdgroup, Interval interval) {
  if (full()) return;
  current_[simdgroup] = static_cast<std::uint32_t>(intervals_.size());
  intervals_.push_back(interval);
}

void Order::begin_group(std::uint32_t group, std::uint32_t simdgroups) {
  group_ = group;
  current_.assign(simdgroups, 0);
  for (std::uint32_t i = 0; i < simdgroups; ++i)
    open(i, {.launch = launch_, .group = group, .simdgroup = i});
}

void Order::group_barrier(std::uint32_t orders) {
  if (orders == 0) return;
  for (std::uint32_t i = 0; i < current_.size(); ++i) {
    Interval next = intervals_[current_[i]];
    if (orders & ks::kOrdersDevice) ++next.epoch[0];
    if (orders & ks::kOrdersGroup) ++next.epoch[1];
    open(i, next);
  }
}

void Order::simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t orders) {
  if (orders == 0) return;
  Interval next = intervals_[current_[simdgroup]];
  if (orders & ks::kOrdersDevice) ++next.simd_epoch[0];
  if (orders & ks::kOrdersGroup) ++next.simd_epoch[1];
  open(simdgroup, next);
}

bool Order::ordered(Stamp before, Stamp now, MemoryKind memory) const {
  const Interval& a = interval(before);
  const Interval& b = interval(now);
  if (a.launch != b.launch) return true;
  if (a.group != b.group) return memory == MemoryKind::group;  // each group has its own
  if (a.simdgroup == b.simdgroup && lane(before) == lane(now)) return true;
  const auto m = static_cast<std::size_t>(memory);
  if (a.epoch[m] != b.epoch[m]) return true;
  return a.simdgroup == b.simdgroup && a.simd_epoch[m] != b.simd_epoch[m];
}

}  // namespace ksearch::simt
