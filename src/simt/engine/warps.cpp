// Lanes by CUDA's rules: an operation names in a mask the lanes it waits for, lanes of one warp go
// their own ways, and barriers of a block have numbers and counts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "simt/engine/machine.h"

namespace ksearch::simt {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kSpins = 64;  // atomics on one address after which others get a turn
constexpr std::clock_t kIdleClocks = 10 * CLOCKS_PER_SEC;

bool same_place(const ks::Lane& a, const ks::Lane& b) { return !earlier(a, b) && !earlier(b, a); }

std::uint32_t first_lane(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

}  // namespace

/// The lanes that wait for the same thing as `one`. __syncwarp may stand at several places.
std::uint32_t Machine::alike(std::uint32_t simdgroup, const Fiber& one) const {
  const std::uint32_t first = simdgroup * kLanes, last = std::min(first + kLanes, threads_);
  std::uint32_t mask = 0;
  for (std::uint32_t i = first; i < last; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait == one.wait && fiber.resolve == one.resolve && fiber.mask == one.mask &&
        (one.wait == Wait::simdgroup_barrier || same_place(fiber.lane, one.lane)))
      mask |= 1u << (i - first);
  }
  return mask;
}

/// The lanes it waits for: those of its mask that have not returned.
std::uint32_t Machine::named_by(std::uint32_t simdgroup, const Fiber& one) const {
  const std::uint32_t first = simdgroup * kLanes, last = std::min(first + kLanes, threads_);
  std::uint32_t there = 0;
  for (std::uint32_t i = first; i < last; ++i)
    if (fibers_[i].wait != Wait::done) there |= 1u << (i - first);
  return one.mask & there;
}

void Machine::tell_absent(std::uint32_t simdgroup, std::uint32_t mask, const Fiber& one) {
  const std::uint32_t missing = named_by(simdgroup, one) & ~mask;
  const std::uint32_t thread = simdgroup * kLanes + first_lane(missing);
  const Fiber& absent = fibers_[thread];
  RawFinding f = watch_.finding(kind::kWrongMask, {one.pc, absent.pc});
  f.threads = {one.lane.thread.index_in_group, thread};
  f.detail =
      fmt::format("its mask {:#010x} names {} lanes that do not come: thread {} waits elsewhere",
                  one.mask, std::popcount(missing), thread);
  watch_.findings().add(std::move(f));
}

void Machine::serve(std::uint32_t simdgroup, std::uint32_t mask) {
  const std::uint32_t first = simdgroup * kLanes;
  const Fiber& one = fibers_[first + first_lane(mask)];
  if (one.mask != 0 && (mask & ~one.mask) != 0) {
    const std::uint32_t thread = first + first_lane(mask & ~one.mask);
    RawFinding f = watch_.finding(kind::kWrongMask, {fibers_[thread].pc});
    f.threads = {thread};
    f.detail = fmt::format("thread {} itself is not in its mask {:#010x}", thread, one.mask);
    watch_.findings().add(std::move(f));
  }
  if (one.wait == Wait::collective) {
    resolve(simdgroup, mask);
  } else {
    ++counts_.simdgroup_barriers;
    if (mask == (threads_ - first >= kLanes ? ~0u : (1u << (threads_ - first)) - 1))
      watch_.order().simdgroup_barrier(simdgroup, ks::kOrdersDevice | ks::kOrdersGroup);
    else
      watch_.order().lanes_met(simdgroup, mask);
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    fibers_[first + first_lane(rest)].wait = Wait::ready;
  idle_since_ = 0;
}

/// Serves the earliest operation to which all lanes it names have come. False where there is none.
bool Machine::step_masked(std::uint32_t simdgroup) {
  const std::uint32_t first = simdgroup * kLanes, last = std::min(first + kLanes, threads_);
  const Fiber* earliest = nullptr;
  std::uint32_t mask = 0, seen = 0;
  bool all_wait = true;
  for (std::uint32_t i = first; i < last; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait == Wait::ready) all_wait = false;
    if (fiber.wait != Wait::collective && fiber.wait != Wait::simdgroup_barrier) continue;
    if (seen >> (i - first) & 1u) continue;
    const std::uint32_t come = alike(simdgroup, fiber);
    seen |= come;
    // Lanes that spin may still come to an operation that names nobody.
    const bool complete = fiber.mask == 0 ? all_wait : (named_by(simdgroup, fiber) & ~come) == 0;
    if (!complete || (earliest && !earlier(fiber.lane, earliest->lane))) continue;
    earliest = &fiber;
    mask = come;
  }
  if (!earliest) return false;
  serve(simdgroup, mask);
  return true;
}

/// Where no warp can go on: opens a barrier to which all have come. Then what cannot end is told
/// and let go. False where all threads have returned.
bool Machine::release_masked() {
  for (std::uint32_t id = 0; id < arrivals_.size(); ++id)
    if (release_block_barrier(id, false)) return true;
  if (idle_since_ == 0) idle_since_ = std::clock();
  for (std::uint32_t i = 0; i < threads_; ++i)
    if (fibers_[i].wait == Wait::ready) {
      if (std::clock() - idle_since_ < kIdleClocks) return true;
      RawFinding f = watch_.finding(kind::kLivelock, {fibers_[i].pc});
      f.threads = {i};
      f.detail = fmt::format(
          "thread {} goes on trying for something that no other thread of the group does", i);
      watch_.findings().add(std::move(f));
      stopped_ = true;
      return false;
    }
  const Fiber* stuck = nullptr;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait != Wait::collective && fiber.wait != Wait::simdgroup_barrier) continue;
    if (stuck && stuck->lane.thread.simdgroup != fiber.lane.thread.simdgroup) break;
    if (!stuck || earlier(fiber.lane, stuck->lane)) stuck = &fiber;
  }
  if (stuck) {
    const std::uint32_t simdgroup = stuck->lane.thread.simdgroup;
    const std::uint32_t come = alike(simdgroup, *stuck);
    tell_absent(simdgroup, come, *stuck);
    serve(simdgroup, come);
    return true;
  }
  for (std::uint32_t id = 0; id < arrivals_.size(); ++id)
    if (release_block_barrier(id, true)) return true;
  return false;
}

void Machine::tell_divergence(std::uint32_t id, std::uint32_t come, std::uint32_t asked) {
  const Fiber *waiting = nullptr, *other = nullptr;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    const Fiber& fiber = fibers_[i];
    const bool here = fiber.wait == Wait::group_barrier && fiber.barrier->id == id;
    if (here && !waiting)
      waiting = &fiber;
    else if (fiber.wait != Wait::done &&
             (!here || (waiting && !same_place(waiting->lane, fiber.lane))) && !other)
      other = &fiber;
  }
  RawFinding f =
      watch_.finding(kind::kBarrierDivergence,
                     other ? std::vector{waiting->pc, other->pc} : std::vector{waiting->pc});
  f.threads = {waiting->lane.thread.index_in_group};
  if (other) f.threads.push_back(other->lane.thread.index_in_group);
  f.detail = come >= asked ? fmt::format("thread {} waits at one barrier, thread {} at another",
                                         f.threads.front(), f.threads.back())
                           : fmt::format("{} of {} threads come to barrier {}", come, asked, id);
  watch_.findings().add(std::move(f));
}

/// Opens barrier `id` where enough threads have come; where `incomplete`, in any case.
bool Machine::release_block_barrier(std::uint32_t id, bool incomplete) {
  Arrivals& arrivals = arrivals_[id];
  std::vector<Fiber*> waiting;
  std::uint32_t alive = 0, yes = 0, simdgroups = arrivals.simdgroups;
  bool apart = false;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    Fiber& fiber = fibers_[i];
    alive += fiber.wait != Wait::done;
    if (fiber.wait != Wait::group_barrier || fiber.barrier->id != id) continue;
    if (!waiting.empty() && fiber.barrier->one_place &&
        !same_place(fiber.lane, waiting.front()->lane))
      apart = true;
    waiting.push_back(&fiber);
    yes += fiber.barrier->predicate;
    simdgroups |= 1u << fiber.lane.thread.simdgroup;
  }
  if (waiting.empty()) return false;
  const std::uint32_t asked = waiting.front()->barrier->threads;
  const std::uint32_t wanted = asked == 0 ? alive : asked;
  const auto come = static_cast<std::uint32_t>(waiting.size()) + arrivals.threads;
  if (come < wanted && !incomplete) return false;
  if (come < wanted || apart) tell_divergence(id, come, wanted);
  ++counts_.group_barriers;
  Order& order = watch_.order();
  if (std::popcount(simdgroups) == static_cast<int>(simdgroups_) && arrivals.threads == 0) {
    order.group_barrier(ks::kOrdersDevice | ks::kOrdersGroup);
  } else {
    Order::Known all = arrivals.known;
    all.resize(simdgroups_);
    std::uint32_t waiters = 0;
    for (const Fiber* fiber : waiting) waiters |= 1u << fiber->lane.thread.simdgroup;
    for (std::uint32_t rest = waiters; rest != 0; rest &= rest - 1) {
      const Order::Known one = order.publish(first_lane(rest));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], one[i]);
    }
    for (std::uint32_t rest = waiters; rest != 0; rest &= rest - 1) {
      order.learn(first_lane(rest), all);
      order.simdgroup_barrier(first_lane(rest), ks::kOrdersDevice | ks::kOrdersGroup);
    }
  }
  for (Fiber* fiber : waiting) {
    fiber->barrier->yes = yes;
    fiber->barrier->all = static_cast<std::uint32_t>(waiting.size());
    fiber->wait = Wait::ready;
  }
  arrivals = {};
  idle_since_ = 0;
  return true;
}

/// A lane that tries one address again and again lets others go on: they may be what it waits for.
void Machine::give_way(const void* at, const void* pc) {
  Fiber& fiber = fibers_[current_];
  watch_.order().atomic_operation(at, fiber.lane.thread.index_in_group);
  fiber.spins = fiber.spun_at == at ? fiber.spins + 1 : 0;
  fiber.spun_at = at;
  if (fiber.spins < kSpins) return;
  fiber.spins = 0;
  wait(Wait::ready, pc);
}

}  // namespace ksearch::simt
