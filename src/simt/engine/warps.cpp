// The part of Machine for CUDA's rules: an operation names in a mask the lanes it waits for, lanes
// of one warp go their own ways, and barriers of a block have numbers and counts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/engine/machine.h"

namespace ksearch::simt {
namespace {

constexpr std::uint32_t kSpins = 64;  // atomics on one address after which others get a turn
constexpr std::clock_t kIdleClocks = 10 * CLOCKS_PER_SEC;

std::uint32_t first_of(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

template <class F>
void each(std::uint32_t mask, F&& f) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) f(first_of(rest));
}

}  // namespace

/// The lanes that wait for the same thing as `one`. __syncwarp may stand at several places.
std::uint32_t Machine::alike(const Simdgroup& group, std::uint32_t first, const Fiber& one) const {
  std::uint32_t mask = 0;
  each(group.waiting, [&](std::uint32_t lane) {
    const Fiber& fiber = fibers_[first + lane];
    if (fiber.mask == one.mask && fiber.wait == one.wait &&
        (one.wait == Wait::simdgroup_barrier || same_place(fiber, one)))
      mask |= 1u << lane;
  });
  return mask;
}

/// The lanes it waits for: those of its mask that have not returned.
std::uint32_t Machine::named_by(std::uint32_t first, const Fiber& one) const {
  std::uint32_t there = 0;
  for (std::uint32_t i = first; i < std::min(first + 32, threads_); ++i)
    if (fibers_[i].wait != Wait::done) there |= 1u << (i - first);
  return one.mask & there;
}

/// Gives lanes of the SIMD-group that runs what they wait for.
void Machine::serve_lanes(std::uint32_t mask) {
  const Fiber& one = fibers_[first_ + first_of(mask)];
  if (one.mask != 0 && (mask & ~one.mask) != 0) {
    const std::uint32_t thread = first_ + first_of(mask & ~one.mask);
    RawFinding f = watch_.finding(kind::kWrongMask, {fibers_[thread].pc});
    f.threads = {thread};
    f.detail = fmt::format("thread {} itself is not in its mask {:#010x}", thread, one.mask);
    watch_.findings().add(std::move(f));
  }
  if (one.wait == Wait::collective) {
    ++counts_.simd_operations;
    std::memset(call_state_.data(), 0, 64);  // the two arguments
    one.resolve(memory_.posts() + first_, mask);
  } else {
    ++counts_.simdgroup_barriers;
    const std::uint32_t lanes = threads_ - first_;
    if (mask == (lanes >= 32 ? ~0u : (1u << lanes) - 1))
      watch_.order().simdgroup_barrier(first_ / 32, ks::kOrdersDevice | ks::kOrdersGroup);
    else
      watch_.order().lanes_met(first_ / 32, mask);
  }
  each(mask, [&](std::uint32_t lane) { fibers_[first_ + lane].wait = Wait::none; });
  group_->waiting &= ~mask;
  group_->ready |= mask;
  idle_since_ = 0;
}

/// Serves the earliest operation to which all lanes it names have come. False where there is none.
bool Machine::serve_masked() {
  const Fiber* earliest = nullptr;
  std::uint32_t mask = 0, seen = 0;
  each(group_->waiting, [&](std::uint32_t lane) {
    if (seen >> lane & 1u) return;
    const Fiber& fiber = fibers_[first_ + lane];
    const std::uint32_t come = alike(*group_, first_, fiber);
    seen |= come;
    // Lanes that gave way may still come to an operation that names nobody.
    const bool complete =
        fiber.mask == 0 ? group_->yielded == 0 : (named_by(first_, fiber) & ~come) == 0;
    if (!complete || (earliest && !earlier(fiber.lane, earliest->lane))) return;
    earliest = &fiber;
    mask = come;
  });
  if (!earliest) return false;
  serve_lanes(mask);
  return true;
}

/// Tells of an operation whose lanes do not come, and lets it go.
bool Machine::force_stuck() {
  for (std::uint32_t i = 0; i < simdgroup_.size(); ++i) {
    if (simdgroup_[i].waiting == 0) continue;
    group_ = &simdgroup_[i];
    first_ = i * 32;
    watch_.running().simdgroup = i;
    const Fiber* stuck = nullptr;
    each(group_->waiting, [&](std::uint32_t lane) {
      const Fiber& fiber = fibers_[first_ + lane];
      if (!stuck || earlier(fiber.lane, stuck->lane)) stuck = &fiber;
    });
    const std::uint32_t come = alike(*group_, first_, *stuck);
    tell_absent(come, *stuck);
    serve_lanes(come);
    return true;
  }
  return false;
}

/// Where no warp can go on: opens a barrier to which all have come. Then what cannot end is told
/// and let go. False where all threads have returned.
bool Machine::release_masked() {
  for (std::uint32_t id = 0; id < arrivals_.size(); ++id)
    if (release_block_barrier(id, false)) return true;
  if (idle_since_ == 0) idle_since_ = std::clock();
  for (std::uint32_t i = 0; i < simdgroup_.size(); ++i) {
    if (simdgroup_[i].ready != 0) return true;
    if (simdgroup_[i].yielded == 0) continue;
    if (std::clock() - idle_since_ < kIdleClocks) return true;
    const std::uint32_t thread = i * 32 + first_of(simdgroup_[i].yielded);
    RawFinding f = watch_.finding(kind::kLivelock, {fibers_[thread].pc});
    f.threads = {thread};
    f.detail = fmt::format(
        "thread {} goes on trying for something that no other thread of the group does", thread);
    watch_.findings().add(std::move(f));
    endless_ = true;
    return false;
  }
  if (force_stuck()) return true;
  for (std::uint32_t id = 0; id < arrivals_.size(); ++id)
    if (release_block_barrier(id, true)) return true;
  return false;
}

/// Opens barrier `id` where enough threads have come; where `incomplete`, in any case.
bool Machine::release_block_barrier(std::uint32_t id, bool incomplete) {
  std::vector<Fiber*> waiting;
  std::uint32_t alive = 0, yes = 0;
  bool apart = false;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    Fiber& fiber = fibers_[i];
    alive += fiber.wait != Wait::done;
    if (fiber.wait != Wait::group_barrier || fiber.barrier->id != id) continue;
    if (!waiting.empty() && fiber.barrier->one_place && !same_place(fiber, *waiting.front()))
      apart = true;
    waiting.push_back(&fiber);
    yes += fiber.barrier->predicate;
  }
  if (waiting.empty()) return false;
  const std::uint32_t asked = waiting.front()->barrier->threads;
  const std::uint32_t wanted = asked == 0 ? alive : asked;
  const auto come = static_cast<std::uint32_t>(waiting.size()) + arrivals_[id].threads;
  if (come < wanted && !incomplete) return false;
  if (come < wanted || apart) tell_divergence(id, come, wanted);
  ++counts_.group_barriers;
  order_barrier(waiting, arrivals_[id]);
  for (Fiber* fiber : waiting) {
    fiber->barrier->yes = yes;
    fiber->barrier->all = static_cast<std::uint32_t>(waiting.size());
    fiber->wait = Wait::none;
    const std::uint32_t index = fiber->lane.thread.index_in_group;
    simdgroup_[index / 32].at_barrier &= ~(1u << index % 32);
    simdgroup_[index / 32].ready |= 1u << index % 32;
  }
  arrivals_[id] = {};
  idle_since_ = 0;
  return true;
}

void Machine::order_barrier(const std::vector<Fiber*>& waiting, const Arrivals& arrivals) {
  Order& order = watch_.order();
  std::uint32_t waiters = 0;
  for (const Fiber* fiber : waiting) waiters |= 1u << fiber->lane.thread.simdgroup;
  if (std::popcount(waiters) == static_cast<int>(simdgroup_.size()) && arrivals.threads == 0)
    return order.group_barrier(ks::kOrdersDevice | ks::kOrdersGroup);
  Order::Past all = arrivals.past;
  all.resize(simdgroup_.size());
  each(waiters, [&](std::uint32_t simdgroup) {
    const Order::Past one = order.publish(simdgroup);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], one[i]);
  });
  each(waiters, [&](std::uint32_t simdgroup) {
    order.learn(simdgroup, all);
    order.simdgroup_barrier(simdgroup, ks::kOrdersDevice | ks::kOrdersGroup);
  });
}

/// bar.arrive
void Machine::arrive(const ks::BlockBarrier& barrier) {
  Arrivals& arrivals = arrivals_[barrier.id & 15u];
  const std::uint32_t simdgroup = first_ / 32;
  const Order::Past past = watch_.order().publish(simdgroup);
  arrivals.past.resize(past.size());
  for (std::size_t i = 0; i < past.size(); ++i)
    arrivals.past[i] = std::max(arrivals.past[i], past[i]);
  ++arrivals.threads;
  arrivals.simdgroups |= 1u << simdgroup;
  // Full with nobody waiting: it opens for nobody, and counts anew.
  const bool waited_for =
      std::any_of(fibers_.begin(), fibers_.begin() + threads_, [&](const Fiber& fiber) {
        return fiber.wait == Wait::group_barrier && fiber.barrier->id == barrier.id;
      });
  if (arrivals.threads >= barrier.threads && !waited_for) arrivals = {};
}

/// A lane that tries one address again and again lets others go on: they may be what it waits for.
void Machine::give_way(const void* at, const void* pc) {
  Fiber& fiber = fibers_[current_];
  watch_.order().atomic_operation(at, current_);
  fiber.spins = fiber.spun_at == at ? fiber.spins + 1 : 0;
  fiber.spun_at = at;
  if (fiber.spins < kSpins) return;
  fiber.spins = 0;
  yield(pc);
}

}  // namespace ksearch::simt
