// The part of Order for meetings of some threads of a group: named barriers, partial masks, fences
// with atomics.
#include <algorithm>

#include "simt/engine/order.h"

namespace ksearch::simt {

void Order::begin_launch(bool masked) {
  ++launch_;
  masked_ = masked;
  releases_.clear();
  some_met_ = false;
}

void Order::begin_meetings(std::uint32_t simdgroups) {
  if (!some_met_) return;
  past_.assign(simdgroups, Past(simdgroups));
  lanes_.assign(simdgroups, {});
  fenced_.clear();
  acquired_.clear();
  learned_.clear();
  some_met_ = !releases_.empty();
}

Order::Past Order::publish(std::uint32_t simdgroup) {
  if (!some_met_ || past_.size() != current_.size()) {
    past_.assign(current_.size(), Past(current_.size()));
    lanes_.assign(current_.size(), {});
    some_met_ = true;
  }
  Past all = past_[simdgroup];
  all[simdgroup] = current_[simdgroup];
  open(simdgroup, Interval(intervals_[current_[simdgroup]]));
  return all;
}

void Order::learn(std::uint32_t simdgroup, const Past& past) {
  for (std::size_t i = 0; i < past.size(); ++i)
    past_[simdgroup][i] = std::max(past_[simdgroup][i], past[i]);
}

void Order::lanes_met(std::uint32_t simdgroup, std::uint32_t mask) {
  publish(simdgroup);
  // What the lanes did lies before the interval that is open now.
  const std::uint32_t until = current_[simdgroup] - 1;
  auto& lanes = lanes_[simdgroup];
  if (lanes.empty()) lanes.resize(32);
  std::array<std::uint32_t, 32> all{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    lanes[lane][lane] = until;
    for (std::size_t i = 0; i < 32; ++i) all[i] = std::max(all[i], lanes[lane][i]);
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1u) lanes[lane] = all;
}

void Order::fence(std::uint32_t simdgroup, std::uint32_t thread) {
  publish(simdgroup);
  fenced_[thread] = current_[simdgroup] - 1;
}

void Order::atomic_operation(const void* at, std::uint32_t thread) {
  if (!some_met_) return;
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

/// Interval numbers of one OS thread rise; groups whose order counts here all run on one.
bool Order::ordered_for_some(Stamp before, Stamp now) const {
  const Interval& a = intervals_[before >> 6];
  const Interval& b = intervals_[now >> 6];
  if (a.launch != launch_) return true;
  if (a.group == group_) {
    if (a.simdgroup != b.simdgroup) {
      if (b.simdgroup < past_.size() && before >> 6 <= past_[b.simdgroup][a.simdgroup]) return true;
    } else if (b.simdgroup < lanes_.size() && !lanes_[b.simdgroup].empty() &&
               before >> 6 <= lanes_[b.simdgroup][lane(now)][lane(before)]) {
      return true;
    }
  }
  return released(before, now);
}

bool Order::released(Stamp before, Stamp now) const {
  if (interval(before).group == group_) {
    const auto learned = learned_.find(interval(now).simdgroup * 32 + lane(now));
    return learned != learned_.end() && before >> 6 <= learned->second;
  }
  for (const void* at : acquired_) {
    const auto groups = releases_.find(at);
    if (groups == releases_.end()) continue;
    const auto found = groups->second.find(interval(before).group);
    if (found != groups->second.end() && before >> 6 <= found->second) return true;
  }
  return false;
}

}  // namespace ksearch::simt
