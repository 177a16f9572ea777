#include "simt/engine/order.h"

#include <algorithm>

#include "simt/device/ks_abi.h"

namespace ksearch::simt {

void Order::begin_launch() {
  ++launch_;
  releases_.clear();
}

void Order::open(std::uint32_t simdgroup, Interval interval) {
  if (full()) return;
  current_[simdgroup] = static_cast<std::uint32_t>(intervals_.size());
  intervals_.push_back(interval);
}

void Order::begin_group(std::uint32_t group, std::uint32_t simdgroups) {
  group_ = group;
  current_.assign(simdgroups, 0);
  known_.assign(simdgroups, Known(simdgroups));
  lanes_.assign(simdgroups, {});
  fenced_.clear();
  acquired_.clear();
  learned_.clear();
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
  // Each group has its own memory of the group.
  if (a.group != b.group) return memory == MemoryKind::group || released(before, now);
  if (a.simdgroup == b.simdgroup && lane(before) == lane(now)) return true;
  const auto m = static_cast<std::size_t>(memory);
  if (a.epoch[m] != b.epoch[m]) return true;
  if (a.simdgroup == b.simdgroup && a.simd_epoch[m] != b.simd_epoch[m]) return true;
  return known(before, now) || released(before, now);
}

Order::Known Order::publish(std::uint32_t simdgroup) {
  Known all = known_[simdgroup];
  all[simdgroup] = current_[simdgroup];
  open(simdgroup, intervals_[current_[simdgroup]]);
  return all;
}

void Order::learn(std::uint32_t simdgroup, const Known& known) {
  for (std::size_t i = 0; i < known.size(); ++i)
    known_[simdgroup][i] = std::max(known_[simdgroup][i], known[i]);
}

void Order::lanes_met(std::uint32_t simdgroup, std::uint32_t mask) {
  auto& lanes = lanes_[simdgroup];
  if (lanes.empty()) lanes.resize(32);
  std::array<std::uint32_t, 32> all{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    lanes[lane][lane] = current_[simdgroup];
    for (std::size_t i = 0; i < 32; ++i) all[i] = std::max(all[i], lanes[lane][i]);
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1u) lanes[lane] = all;
  open(simdgroup, intervals_[current_[simdgroup]]);
}

bool Order::known(Stamp before, Stamp now) const {
  const std::uint32_t then = intervals_[before >> 6].simdgroup;
  const std::uint32_t here = intervals_[now >> 6].simdgroup;
  if (then != here) return before >> 6 <= known_[here][then];
  return !lanes_[here].empty() && before >> 6 <= lanes_[here][lane(now)][lane(before)];
}

void Order::fence(std::uint32_t simdgroup, std::uint32_t thread) {
  fenced_[thread] = static_cast<std::uint32_t>(intervals_.size()) - 1;
  open(simdgroup, intervals_[current_[simdgroup]]);
}

void Order::atomic_operation(const void* at, std::uint32_t thread) {
  const auto found = releases_.find(at);
  if (found != releases_.end()) {
    if (std::find(acquired_.begin(), acquired_.end(), at) == acquired_.end())
      acquired_.push_back(at);
    if (const auto own = found->second.find(group_); own != found->second.end())
      learned_[thread] = std::max(learned_[thread], own->second);
  }
  const auto fenced = fenced_.find(thread);
  if (fenced != fenced_.end()) releases_[at][group_] = fenced->second;
}

bool Order::released(Stamp before, Stamp now) const {
  if (interval(before).group == group_) {
    const auto learned = learned_.find(interval(now).simdgroup * 32 + lane(now));
    return learned != learned_.end() && before >> 6 <= learned->second;
  }
  for (const void* at : acquired_) {
    const auto& groups = releases_.at(at);
    const auto found = groups.find(interval(before).group);
    if (found != groups.end() && before >> 6 <= found->second) return true;
  }
  return false;
}

}  // namespace ksearch::simt
