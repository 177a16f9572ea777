// The part of Machine that lets the lanes of a SIMD-group take turns. All of it but run_simdgroup
// runs on the stack of the lane that waits or ends.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <utility>

#include "simt/engine/fiber.h"
#include "simt/engine/machine.h"
#include "simt/engine/sanitizer.h"

namespace ksearch::simt {
namespace {

// Of clang's state only what is passed to a function that is entered from outside must be clean.
// The state is one for all lanes: none of it is alive where a lane waits, in a call that returns
// nothing.
constexpr std::size_t kPassed = 800;
// Stacks begin at different sets of the caches: otherwise those of 32 lanes fight for one.
constexpr std::size_t kColours = 64, kColour = 5 * 64;

}  // namespace

bool earlier(const ks::Lane& a, const ks::Lane& b) {
  const std::uint32_t n = std::min({a.depth, b.depth, ks::Lane::kDeepest});
  for (std::uint32_t i = 0; i < n; ++i)
    if (a.path[i] != b.path[i]) return a.path[i] < b.path[i];
  return a.depth < b.depth;
}

std::byte* Machine::take_stack() {
  if (free_stacks_.empty()) {
    std::byte* stack = memory_.begin + stacks_made_ * LaneMemory::kStack;
    ::mprotect(stack, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE);
    ++stacks_made_;
    free_stacks_.push_back(stack + LaneMemory::kStack);
  }
  std::byte* end = free_stacks_.back();
  free_stacks_.pop_back();
  return end;
}

[[gnu::always_inline]] inline void Machine::select(int index) {
  Fiber& fiber = this->fiber(index);
  current_ = static_cast<std::uint32_t>(index);
  steps_ = steps_ + 1;
  *attachment_.lane = &fiber.lane;
  Running& who = watch_.running();
  who.index_in_group = current_;
  who.lane = fiber.lane.thread.lane;
  if (trace_) trace_->begin_thread(current_);
  watch_.settle();
}

[[gnu::always_inline]] inline void* Machine::top_of(int index) {
  void* top = fiber(index).top;
  return top ? top : fresh_top();
}

void* Machine::fresh_top() {
  std::byte* end = take_stack();
  if constexpr (kAddressSanitizer) forget_frames(end - LaneMemory::kStack, LaneMemory::kStack);
  const auto number = static_cast<std::size_t>(end - memory_.begin) / LaneMemory::kStack;
  return prepare_fiber(end - number % kColours * kColour, fiber_main);
}

[[gnu::always_inline]] inline int Machine::next_lane() {
  if (group_->ready == 0) {
    if (trace_) trace_->meet();
    if (group_->waiting == 0) return kNobody;
    watch_.settle();
    if (!plan_.masked)
      serve();
    else if (!serve_masked())
      return kNobody;
  }
  const int lane = std::countr_zero(group_->ready);
  group_->ready &= group_->ready - 1;
  // The one after it: its stack is out of the nearest cache when 32 lanes take turns.
  if (group_->ready != 0)
    __builtin_prefetch(fiber(static_cast<int>(first_) + std::countr_zero(group_->ready)).top);
  return static_cast<int>(first_) + lane;
}

void Machine::run_simdgroup(std::uint32_t simdgroup) {
  group_ = &simdgroup_[simdgroup];
  first_ = simdgroup * 32;
  group_->ready |= std::exchange(group_->yielded, 0);
  watch_.running().simdgroup = simdgroup;
  const int lane = next_lane();
  if (lane == kNobody) return;
  select(lane);
  running_ = 1;
  switch_fiber(&scheduler_top_, top_of(lane));
  running_ = 0;
  watch_.settle();
}

std::uint32_t Machine::those_at_the_earliest_place() const {
  const Fiber* earliest = nullptr;
  for (std::uint32_t rest = group_->waiting; rest != 0; rest &= rest - 1) {
    const Fiber& fiber = fibers_[first_ + static_cast<std::uint32_t>(std::countr_zero(rest))];
    if (!earliest || earlier(fiber.lane, earliest->lane)) earliest = &fiber;
  }
  std::uint32_t mask = 0;
  for (std::uint32_t rest = group_->waiting; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (same_place(fibers_[first_ + lane], *earliest)) mask |= 1u << lane;
  }
  return mask;
}

/// Nobody of the SIMD-group can run: gives the lanes at the earliest place what they wait for.
void Machine::serve() {
  const std::uint32_t mask = group_->uniform ? group_->waiting : those_at_the_earliest_place();
  const Fiber& one = fibers_[first_ + static_cast<std::uint32_t>(std::countr_zero(mask))];
  if (one.wait == Wait::collective) {
    ++counts_.simd_operations;
    std::memset(call_state_.data(), 0, 64);  // the two arguments
    one.resolve(memory_.posts() + first_, mask);
  } else {
    resolve_simdgroup_barrier(mask);
  }
  group_->waiting &= ~mask;
  group_->ready = mask;
}

void Machine::resolve_simdgroup_barrier(std::uint32_t mask) {
  const std::uint32_t lanes = std::min(32u, threads_ - first_);
  const std::uint32_t all = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  const Fiber& one = fibers_[first_ + static_cast<std::uint32_t>(std::countr_zero(mask))];
  if (mask != all) {
    const Fiber& absent =
        fibers_[first_ + static_cast<std::uint32_t>(std::countr_zero(all & ~mask))];
    RawFinding f = watch_.finding(kind::kBarrierDivergence, {one.pc});
    f.threads = {one.lane.thread.index_in_group, absent.lane.thread.index_in_group};
    f.detail = fmt::format(
        "{} of {} lanes of the SIMD-group reach this simdgroup_barrier; thread {} does not",
        std::popcount(mask), lanes, absent.lane.thread.index_in_group);
    watch_.findings().add(std::move(f));
  }
  ++counts_.simdgroup_barriers;
  watch_.order().simdgroup_barrier(first_ / 32, one.orders);
}

void Machine::fiber_main() {
  Machine& m = *t_machine;
  for (;;) {
    Fiber& fiber = m.fibers_[m.current_];
    m.arguments_.thread = &fiber.lane.thread;
    // Each has its own: another thread's would be seen after a switch.
    const ks::Arguments arguments = m.arguments_;
    std::memset(m.call_state_.data(), 0, kPassed);
    m.plan_.kernel->run(&arguments);
    m.fibers_[m.current_].wait = Wait::done;
    const int next = m.next_lane();
    // The stack is free, and the next lane may have it at once.
    if (next != kNobody && !m.fiber(next).top) {
      m.select(next);
      continue;
    }
    std::byte here;
    m.free_stacks_.push_back(
        m.memory_.begin +
        (static_cast<std::size_t>(&here - m.memory_.begin) / LaneMemory::kStack + 1) *
            LaneMemory::kStack);
    if (next != kNobody) m.select(next);
    switch_fiber(&m.left_, next != kNobody ? m.fiber(next).top : m.scheduler_top_);
    __builtin_unreachable();
  }
}

[[gnu::always_inline]] inline void Machine::hand_over(Fiber& fiber) {
  const int next = next_lane();
  if (next == kNobody) return switch_fiber(&fiber.top, scheduler_top_);
  const bool another = next != static_cast<int>(current_);
  void* to = another ? top_of(next) : nullptr;
  select(next);
  if (another) switch_fiber(&fiber.top, to);
}

[[gnu::always_inline]] inline void Machine::wait(Fiber& fiber, Wait what, const void* pc) {
  const std::uint32_t bit = 1u << (current_ - first_);
  fiber.wait = what;
  fiber.pc = pc;
  if (what == Wait::group_barrier) {
    group_->at_barrier |= bit;
  } else {
    if (group_->waiting == 0)
      group_->uniform = true;
    else if (group_->uniform)
      group_->uniform = same_place(
          fiber, fibers_[first_ + static_cast<std::uint32_t>(std::countr_zero(group_->waiting))]);
    group_->waiting |= bit;
  }
  hand_over(fiber);
}

void Machine::collective(ks::Resolve resolve, ks::u32 source, const void* pc) {
  Machine& m = *t_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.resolve = resolve;
  fiber.lane.mailbox->post.source = source;
  fiber.mask = fiber.lane.mailbox->post.mask;
  m.wait(fiber, Wait::collective, pc ? pc : __builtin_return_address(0));
}

void Machine::barrier(ks::BarrierScope scope, ks::u32 orders) {
  Machine& m = *t_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.orders = orders;
  fiber.resolve = nullptr;
  m.wait(fiber, scope == ks::BarrierScope::group ? Wait::group_barrier : Wait::simdgroup_barrier,
         __builtin_return_address(0));
}

void Machine::warp_barrier(ks::u32 mask) {
  Machine& m = *t_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.resolve = nullptr;
  fiber.mask = mask;
  m.wait(fiber, Wait::simdgroup_barrier, __builtin_return_address(0));
}

void Machine::block_barrier(ks::BlockBarrier* barrier) {
  Machine& m = *t_machine;
  if (!barrier->waits) return m.arrive(*barrier);
  Fiber& fiber = m.fibers_[m.current_];
  fiber.barrier = barrier;
  fiber.resolve = nullptr;
  m.wait(fiber, Wait::group_barrier, barrier->pc);
}

void Machine::yield(const void* pc) {
  Fiber& fiber = fibers_[current_];
  fiber.pc = pc;
  group_->yielded |= 1u << (current_ - first_);
  hand_over(fiber);
}

}  // namespace ksearch::simt
