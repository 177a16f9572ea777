#include "simt/engine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "simt/engine/fiber.h"
#include "simt/engine/sanitizer.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kCallState = 8192;  // clang 19: kmsan_context_state is 4 KiB
constexpr std::uint32_t kSimdgroup = 32;

std::uint32_t product(const std::array<std::uint32_t, 3>& a) { return a[0] * a[1] * a[2]; }

std::uint32_t mask_of(std::uint32_t lanes) {
  return lanes >= kSimdgroup ? 0xffffffffu : (1u << lanes) - 1;
}

}  // namespace

constinit thread_local Machine* t_machine = nullptr;

Counts& Counts::operator+=(const Counts& other) {
  groups += other.groups;
  threads += other.threads;
  simd_operations += other.simd_operations;
  group_barriers += other.group_barriers;
  simdgroup_barriers += other.simdgroup_barriers;
  return *this;
}

Machine::Machine(Watch& watch, LaneMemory memory, const Options& options)
    : watch_(watch),
      memory_(memory),
      options_(options),
      fibers_(memory.lanes),
      call_state_(kCallState),
      signal_stack_(1 << 16) {
  for (std::uint32_t i = 0; i < memory_.lanes; ++i) {
    ks::Mailbox& box = memory_.mailboxes()[i];
    box.post = {box.in, box.out, 0};
    memory_.posts()[i] = &box.post;
    fibers_[i].lane.mailbox = &box;
  }
}

Machine::~Machine() {
  if (t_machine == this) t_machine = nullptr;
}

void Machine::mark_constants(const GroupPlan& plan) {
  for (int i = 0; i < plan.kernel->count; ++i) {
    const ks::Parameter& parameter = plan.kernel->parameters[i];
    if (parameter.kind != ks::ArgumentKind::buffer || parameter.space != ks::Space::constant)
      continue;
    const void* at = plan.buffers[static_cast<std::size_t>(parameter.index)];
    for (PlacedBuffer& buffer : watch_.buffers())
      if (watch_.device().data() + buffer.offset == at) buffer.constant = true;
  }
}

const SampledGroup* Machine::sampled(std::uint32_t group) const {
  const auto found = std::lower_bound(
      plan_.sample.begin(), plan_.sample.end(), group,
      [](const SampledGroup& one, std::uint32_t number) { return one.number < number; });
  return found != plan_.sample.end() && found->number == group ? &*found : nullptr;
}

bool Machine::run(const GroupPlan& plan,
                  const std::function<std::optional<std::uint32_t>()>& next) {
  plan_ = plan;
  std::copy(plan.buffers.begin(), plan.buffers.end(), arguments_.buffers);
  arguments_.parameters = plan.kernel->parameters;
  arguments_.values = plan_.values.data();
  endless_ = false;
  mark_constants(plan);
  if (trace_) {
    std::vector<bool> constant;
    for (const PlacedBuffer& buffer : watch_.buffers()) constant.push_back(buffer.constant);
    trace_->begin_launch(std::move(constant));
  }
  watch_.order().begin_launch(plan.masked);
  watch_.running() = {.launch = plan.number};
  steps_ = 0;
  steps_at_tick_ = 0;
  idle_ticks_ = 0;
  stop_ = Stop::none;
  *attachment_.call_state = call_state_.data();
  // volatile: it is read after the jump.
  volatile bool whole = true;
  if (sigsetjmp(escape_, 1) == 0) {
    while (const auto number = next()) {
      run_group(*number);
      if (endless_) break;
    }
    whole = !endless_;
  } else {
    whole = false;
    running_ = 0;
    in_hook_ = 0;
    // Those of this stack that were left for a lane's.
    constexpr std::size_t kLeft = 64 << 10;
    forget_frames(static_cast<std::byte*>(__builtin_frame_address(0)) - kLeft, kLeft);
    tell_stop();
  }
  watch_.end_launch();
  return whole;
}

void Machine::place_threads(std::array<std::uint32_t, 3> group) {
  std::array<std::uint32_t, 3> size = plan_.group_size, grid{};
  for (std::size_t d = 0; d < 3; ++d) {
    grid[d] = plan_.threads ? (*plan_.threads)[d] : plan_.groups[d] * plan_.group_size[d];
    size[d] = std::min(size[d], grid[d] - group[d] * plan_.group_size[d]);
  }
  threads_ = product(size);
  const std::uint32_t simdgroups = (threads_ + kSimdgroup - 1) / kSimdgroup;
  const auto dim = [](const std::array<std::uint32_t, 3>& a) { return ks::Dim{a[0], a[1], a[2]}; };
  ks::Dim at{0, 0, 0};
  for (std::uint32_t i = 0; i < threads_; ++i) {
    Fiber& fiber = fibers_[i];
    fiber.lane.thread = {.position_in_group = at,
                         .group_position = dim(group),
                         .position_in_grid = {group[0] * plan_.group_size[0] + at.x,
                                              group[1] * plan_.group_size[1] + at.y,
                                              group[2] * plan_.group_size[2] + at.z},
                         .group_size = dim(size),
                         .dispatch_group_size = dim(plan_.group_size),
                         .groups = dim(plan_.groups),
                         .grid_size = dim(grid),
                         .index_in_group = i,
                         .lane = i % kSimdgroup,
                         .simdgroup = i / kSimdgroup,
                         .simdgroups = simdgroups};
    fiber.lane.depth = 0;
    fiber.lane.counters = trace_ ? trace_->counters(i) : nullptr;
    fiber.wait = Wait::none;
    fiber.spun_at = nullptr;
    fiber.top = nullptr;
    if (++at.x == size[0]) at = {0, at.y + 1, at.z};
    if (at.y == size[1]) at = {0, 0, at.z + 1};
  }
  simdgroup_.assign(simdgroups, {});
  for (std::uint32_t i = 0; i < simdgroups; ++i)
    simdgroup_[i].ready = mask_of(threads_ - i * kSimdgroup);
}

std::vector<std::uint32_t> Machine::order_of_simdgroups(std::uint32_t number,
                                                        std::uint32_t stage) const {
  std::vector<std::uint32_t> order(simdgroup_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (options_.schedule == Schedule::reversed) std::reverse(order.begin(), order.end());
  if (options_.schedule == Schedule::random) {
    // Of this group and this stage: whichever OS thread runs it.
    base::Random random(options_.seed ^ std::uint64_t{stage} << 32 ^ number);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  return order;
}

void Machine::run_group(std::uint32_t number) {
  const std::array<std::uint32_t, 3> group = position(number, plan_.groups);
  place_threads(group);
  if (trace_) trace_->begin_group(number, sampled(number), threads_);
  free_stacks_.clear();
  for (std::uint32_t i = stacks_made_; i > 0; --i)
    free_stacks_.push_back(memory_.begin + i * LaneMemory::kStack);
  watch_.running().group = group;
  watch_.begin_group(number + 1, static_cast<std::uint32_t>(simdgroup_.size()), plan_.group_memory);
  for (std::size_t i = 0; i < plan_.group_memory.size() && i < 32; ++i)
    arguments_.group_memory[i] = watch_.group_slot(i);
  for (std::uint32_t i = 0; i < threads_ && !plan_.group_memory.empty(); ++i)
    fibers_[i].lane.thread.dynamic_memory = watch_.group_slot(0);
  arrivals_.fill({});
  idle_since_ = 0;
  std::uint32_t stage = 0;
  do {
    for (const std::uint32_t simdgroup : order_of_simdgroups(number, stage++))
      run_simdgroup(simdgroup);
  } while (plan_.masked ? release_masked() : release_group_barrier());
  if (trace_) trace_->end_group();
  watch_.end_group();
  ++counts_.groups;
  counts_.threads += threads_;
}

/// Where all threads that are left wait at a barrier: lets them go. False where none is left.
bool Machine::release_group_barrier() {
  const Fiber *waiting = nullptr, *finished = nullptr, *elsewhere = nullptr;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < threads_; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait == Wait::done) {
      if (!finished) finished = &fiber;
      continue;
    }
    ++count;
    if (!waiting)
      waiting = &fiber;
    else if (!elsewhere && !same_place(*waiting, fiber))
      elsewhere = &fiber;
  }
  if (!waiting) return false;
  if (finished || elsewhere) {
    const Fiber& other = elsewhere ? *elsewhere : *finished;
    RawFinding f =
        watch_.finding(kind::kBarrierDivergence, elsewhere ? std::vector{waiting->pc, elsewhere->pc}
                                                           : std::vector{waiting->pc});
    f.threads = {waiting->lane.thread.index_in_group, other.lane.thread.index_in_group};
    f.detail = elsewhere ? fmt::format("thread {} waits at one barrier, thread {} at another",
                                       f.threads[0], f.threads[1])
                         : fmt::format(
                               "{} of {} threads of the group wait at this barrier; thread {} "
                               "has returned",
                               count, threads_, f.threads[1]);
    watch_.findings().add(std::move(f));
  }
  ++counts_.group_barriers;
  watch_.order().group_barrier(waiting->orders);
  for (Simdgroup& group : simdgroup_) group.ready = std::exchange(group.at_barrier, 0);
  return true;
}

}  // namespace ksearch::simt
