#include "simt/engine/machine.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "simt/engine/fiber.h"
#include "simt/engine/program_counter.h"

namespace ksearch::simt {
namespace {

constexpr std::size_t kCallState = 8192;  // clang 19: kmsan_context_state is 4 KiB
constexpr std::uint32_t kSimdgroup = 32;
constexpr int kTickSeconds = 1;
constexpr int kIdleTicks = 10;  // CPU seconds in which no lane reached a wait or its end

// Functions that an object calls, and signal handlers, have no other way to us. One machine runs in
// a process.
Machine* g_machine = nullptr;

}  // namespace

bool earlier(const ks::Lane& a, const ks::Lane& b) {
  const std::uint32_t n = std::min({a.depth, b.depth, ks::Lane::kDeepest});
  for (std::uint32_t i = 0; i < n; ++i)
    if (a.path[i] != b.path[i]) return a.path[i] < b.path[i];
  return a.depth < b.depth;
}

Machine::Machine(Watch& watch, const ks::Attachment& attachment, Schedule schedule,
                 std::uint64_t seed)
    : watch_(watch),
      attachment_(attachment),
      schedule_(schedule),
      random_(seed),
      fibers_(kMostThreads + 1),
      signal_stack_(1 << 16) {
  KS_CHECK(!g_machine, "one machine a process");
  g_machine = this;
  engine_ = {hook_load,           hook_store,          hook_copy,         hook_fill,
             hook_used_undefined, hook_begin_variable, hook_end_variable, hook_misaligned,
             hook_outside_array,  hook_group_array,    hook_collective,   hook_barrier,
             hook_undefined_lane, hook_atomic,         hook_warp_barrier, hook_block_barrier,
             hook_start_copy,     hook_commit_copies,  hook_wait_for_copies, hook_fence,
             hook_yield,          hook_group_memory};
  *attachment_.engine = &engine_;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    ::mprotect(watch_.stacks().data() + i * kStack, page, PROT_NONE);
    fibers_[i].call_state.resize(kCallState);
  }
  Fiber& resolver = fibers_[kMostThreads];
  resolver.top = prepare_fiber(watch_.stacks().data() + fibers_.size() * kStack, resolver_main);

  const stack_t stack{
      .ss_sp = signal_stack_.data(), .ss_flags = 0, .ss_size = signal_stack_.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_fault;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    ::sigaction(signal, &action, nullptr);
  action.sa_sigaction = on_tick;
  ::sigaction(SIGPROF, &action, nullptr);
}

Machine::~Machine() {
  arm(false);
  g_machine = nullptr;
}

void Machine::arm(bool on) {
  itimerval timer{};
  if (on) timer.it_interval.tv_sec = timer.it_value.tv_sec = kTickSeconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

bool Machine::run(const GroupPlan& plan) {
  plan_ = plan;
  std::copy(plan.buffers.begin(), plan.buffers.end(), arguments_.buffers);
  arguments_.parameters = plan.kernel->parameters;
  arguments_.values = plan_.values.data();
  for (int i = 0; i < plan.kernel->count; ++i) {
    const ks::Parameter& parameter = plan.kernel->parameters[i];
    if (parameter.kind != ks::ArgumentKind::buffer || parameter.space != ks::Space::constant)
      continue;
    const void* at = plan.buffers[static_cast<std::size_t>(parameter.index)];
    for (PlacedBuffer& buffer : watch_.buffers())
      if (watch_.device().data() + buffer.offset == at) buffer.constant = true;
  }
  watch_.order().begin_launch();
  watch_.running() = {.launch = plan.number};
  switches_ = 0;
  switches_at_tick_ = 0;
  idle_ticks_ = 0;
  expired_ = 0;
  arm(true);
  bool whole = true;
  if (sigsetjmp(escape_, 1) == 0) {
    std::uint32_t number = 0;
    for (std::uint32_t z = 0; z < plan_.groups[2]; ++z)
      for (std::uint32_t y = 0; y < plan_.groups[1]; ++y)
        for (std::uint32_t x = 0; x < plan_.groups[0] && !stopped_; ++x)
          run_group(++number, {x, y, z});
    whole = !stopped_;
  } else {
    running_ = 0;
    whole = false;
    if (expired_) {
      RawFinding f = watch_.finding(kind::kLivelock, {fault_pc_});
      f.detail = fmt::format(
          "the thread ran for {} s of CPU time without reaching its end or a "
          "place where it waits",
          kIdleTicks * kTickSeconds);
      watch_.findings().add(std::move(f));
    } else {
      watch_.wild_access(fault_at_, fault_pc_);
    }
  }
  arm(false);
  watch_.end_launch();
  return whole;
}

void Machine::place_threads(std::array<std::uint32_t, 3> group) {
  std::array<std::uint32_t, 3> size = plan_.group_size, grid{};
  for (std::size_t d = 0; d < 3; ++d) {
    grid[d] = plan_.threads ? (*plan_.threads)[d] : plan_.groups[d] * plan_.group_size[d];
    size[d] = std::min(size[d], grid[d] - group[d] * plan_.group_size[d]);
  }
  threads_ = size[0] * size[1] * size[2];
  simdgroups_ = (threads_ + kSimdgroup - 1) / kSimdgroup;
  const auto dim = [](const std::array<std::uint32_t, 3>& a) { return ks::Dim{a[0], a[1], a[2]}; };
  for (std::uint32_t i = 0; i < threads_; ++i) {
    Fiber& fiber = fibers_[i];
    const ks::Dim at{i % size[0], i / size[0] % size[1], i / (size[0] * size[1])};
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
                         .simdgroups = simdgroups_};
    fiber.lane.depth = 0;
    fiber.wait = Wait::ready;
    fiber.pc = nullptr;
    fiber.spun_at = nullptr;
    fiber.top = prepare_fiber(watch_.stacks().data() + (i + 1) * kStack, fiber_main);
    std::memset(fiber.call_state.data(), 0, fiber.call_state.size());
  }
}

std::vector<std::uint32_t> Machine::order_of_simdgroups() {
  std::vector<std::uint32_t> order(simdgroups_);
  std::iota(order.begin(), order.end(), 0u);
  if (schedule_ == Schedule::reversed) std::reverse(order.begin(), order.end());
  if (schedule_ == Schedule::random)
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_.next() % i]);
  return order;
}

void Machine::run_group(std::uint32_t number, std::array<std::uint32_t, 3> group) {
  place_threads(group);
  arrivals_.fill({});
  idle_since_ = 0;
  watch_.running().group = group;
  watch_.begin_group(number, simdgroups_, plan_.group_memory);
  for (std::size_t i = 0; i < plan_.group_memory.size() && i < 32; ++i)
    arguments_.group_memory[i] = watch_.group_slot(i);
  for (std::uint32_t i = 0; i < threads_ && !plan_.group_memory.empty(); ++i)
    fibers_[i].lane.thread.dynamic_memory = watch_.group_slot(0);
  do {
    for (const std::uint32_t simdgroup : order_of_simdgroups())
      while (step(simdgroup)) {
      }
  } while (plan_.masked ? release_masked() : release_group_barrier());
  watch_.end_group();
  ++counts_.groups;
  counts_.threads += threads_;
}

/// Runs every lane that can run, then serves the lanes that wait at the earliest place. False where
/// nobody waits for the SIMD-group alone.
bool Machine::step(std::uint32_t simdgroup) {
  const std::uint32_t first = simdgroup * kSimdgroup;
  const std::uint32_t last = std::min(first + kSimdgroup, threads_);
  for (std::uint32_t i = first; i < last; ++i)
    if (fibers_[i].wait == Wait::ready) switch_to(i);
  if (plan_.masked) return step_masked(simdgroup);
  const Fiber* earliest = nullptr;
  for (std::uint32_t i = first; i < last; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait != Wait::collective && fiber.wait != Wait::simdgroup_barrier) continue;
    if (!earliest || earlier(fiber.lane, earliest->lane)) earliest = &fiber;
  }
  if (!earliest) return false;
  std::uint32_t mask = 0;
  for (std::uint32_t i = first; i < last; ++i) {
    const Fiber& fiber = fibers_[i];
    if (fiber.wait == earliest->wait && fiber.resolve == earliest->resolve &&
        !earlier(earliest->lane, fiber.lane) && !earlier(fiber.lane, earliest->lane))
      mask |= 1u << (i - first);
  }
  if (earliest->wait == Wait::collective)
    resolve(simdgroup, mask);
  else
    resolve_simdgroup_barrier(simdgroup, mask);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    fibers_[first + static_cast<std::uint32_t>(std::countr_zero(rest))].wait = Wait::ready;
  return true;
}

void Machine::resolve(std::uint32_t simdgroup, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const Fiber& fiber = fibers_[simdgroup * kSimdgroup + lane];
    posts_[lane] = fiber.post;
    resolve_ = fiber.resolve;
  }
  mask_ = mask;
  resolving_ = simdgroup;
  ++counts_.simd_operations;
  switch_to(kMostThreads);
}

void Machine::resolve_simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t mask) {
  const std::uint32_t first = simdgroup * kSimdgroup;
  const std::uint32_t lanes = std::min(kSimdgroup, threads_ - first);
  const std::uint32_t all = lanes == kSimdgroup ? 0xffffffffu : (1u << lanes) - 1;
  const Fiber& one = fibers_[first + static_cast<std::uint32_t>(std::countr_zero(mask))];
  if (mask != all) {
    const Fiber& absent =
        fibers_[first + static_cast<std::uint32_t>(std::countr_zero(all & ~mask))];
    RawFinding f = watch_.finding(kind::kBarrierDivergence, {one.pc});
    f.threads = {one.lane.thread.index_in_group, absent.lane.thread.index_in_group};
    f.detail = fmt::format(
        "{} of {} lanes of the SIMD-group reach this simdgroup_barrier; thread {} does not",
        std::popcount(mask), lanes, absent.lane.thread.index_in_group);
    watch_.findings().add(std::move(f));
  }
  ++counts_.simdgroup_barriers;
  watch_.order().simdgroup_barrier(simdgroup, one.orders);
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
    else if (!elsewhere &&
             (earlier(waiting->lane, fiber.lane) || earlier(fiber.lane, waiting->lane)))
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
  for (std::uint32_t i = 0; i < threads_; ++i)
    if (fibers_[i].wait == Wait::group_barrier) fibers_[i].wait = Wait::ready;
  return true;
}

void Machine::switch_to(std::uint32_t index) {
  Fiber& fiber = fibers_[index];
  current_ = index;
  switches_ = switches_ + 1;
  *attachment_.lane = &fiber.lane;
  *attachment_.call_state = fiber.call_state.data();
  Running& who = watch_.running();
  who.index_in_group = fiber.lane.thread.index_in_group;
  who.simdgroup = fiber.lane.thread.simdgroup;
  who.lane = fiber.lane.thread.lane;
  running_ = 1;
  ksearch_switch_fiber(&scheduler_top_, fiber.top);
  running_ = 0;
  watch_.settle();
}

void Machine::fiber_main() {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[m.current_];
  m.arguments_.thread = &fiber.lane.thread;
  // Each has its own: another thread's would be seen after a switch.
  const ks::Arguments arguments = m.arguments_;
  m.plan_.kernel->run(&arguments);
  fiber.wait = Wait::done;
  ksearch_switch_fiber(&fiber.top, m.scheduler_top_);
  __builtin_unreachable();
}

void Machine::resolver_main() {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[kMostThreads];
  for (;;) {
    m.resolve_(m.posts_.data(), m.mask_);
    ksearch_switch_fiber(&fiber.top, m.scheduler_top_);
  }
}

void Machine::wait(Wait what, const void* pc) {
  Fiber& fiber = fibers_[current_];
  fiber.wait = what;
  fiber.pc = pc;
  ksearch_switch_fiber(&fiber.top, scheduler_top_);
}

void Machine::on_fault(int signal, siginfo_t* info, void* context) {
  Machine* m = g_machine;
  // Hooks run on the thread's stack, so it may end in one.
  const bool stack_end = m && m->running_ && m->watch_.stacks().holds(info->si_addr);
  if (stack_end) m->in_hook_ = 0;
  if (!m || !m->running_ || m->in_hook_) {
    // Ours: die of it.
    ::signal(signal, SIG_DFL);
    return;
  }
  m->fault_at_ = info->si_addr;
  m->fault_pc_ = program_counter(context);
  siglongjmp(m->escape_, 1);
}

void Machine::on_tick(int, siginfo_t*, void* context) {
  Machine* m = g_machine;
  if (!m || !m->running_) return;
  const bool idle = m->switches_ == m->switches_at_tick_;
  m->switches_at_tick_ = m->switches_;
  m->idle_ticks_ = idle ? m->idle_ticks_ + 1 : 0;
  if (m->idle_ticks_ < kIdleTicks) return;
  m->expired_ = 1;
  if (m->in_hook_) return;  // it looks when it is done
  m->fault_pc_ = program_counter(context);
  siglongjmp(m->escape_, 1);
}

// Hooks. Signals that come in one wait for its end: memory is being changed.
#define KS_IN_HOOK(pc)               \
  Machine& m = *g_machine;           \
  m.in_hook_ = 1;                    \
  const struct Leave {               \
    Machine& m;                      \
    const void* at;                  \
    ~Leave() {                       \
      m.in_hook_ = 0;                \
      if (m.expired_) [[unlikely]] { \
        m.fault_pc_ = at;            \
        siglongjmp(m.escape_, 1);    \
      }                              \
    }                                \
  } leave {                          \
    m, pc                            \
  }

ks::Meta Machine::hook_load(const void* at, ks::u64 bytes, const void* pc) {
  KS_IN_HOOK(pc);
  return m.watch_.access(at, bytes, {.load = true}, pc);
}
ks::Meta Machine::hook_store(void* at, ks::u64 bytes, const void* pc) {
  KS_IN_HOOK(pc);
  return m.watch_.access(at, bytes, {.store = true}, pc);
}
void Machine::hook_copy(void* to, const void* from, ks::u64 bytes, const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.copy(to, from, bytes, pc);
}
void Machine::hook_fill(void* to, int byte, ks::u64 bytes, const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.fill(to, byte, bytes, pc);
}
void Machine::hook_used_undefined(ks::u32 origin, const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.used_undefined(origin, pc);
}
void Machine::hook_begin_variable(void* at, ks::u64 bytes, const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.set_undefined(at, bytes, OriginKind::variable, pc);
}
void Machine::hook_end_variable(void* at, ks::u64 bytes) {
  KS_IN_HOOK(nullptr);
  m.watch_.set_defined(at, bytes);
}
void Machine::hook_misaligned(const void* at, ks::u64 alignment, const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.misaligned(at, alignment, pc);
}
void Machine::hook_outside_array(const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.outside_array(pc);
}
void* Machine::hook_group_array(const void* key, ks::u64 bytes, ks::u64 alignment, const char* name,
                                const void*) {
  const void* pc = __builtin_return_address(0);
  KS_IN_HOOK(pc);
  return m.watch_.group_array(key, bytes, alignment, name, pc);
}
void Machine::hook_atomic(const void* at, ks::u64 bytes, bool loads, bool stores, const void* pc) {
  {
    KS_IN_HOOK(pc);
    m.watch_.access(at, bytes, {.load = loads, .store = stores, .atomic = true}, pc);
    if (stores) m.watch_.set_defined(at, bytes);
  }
  if (g_machine->plan_.masked) g_machine->give_way(at, pc);
}
void Machine::hook_undefined_lane(void* at, ks::u64 bytes, ks::u32 lane) {
  KS_IN_HOOK(nullptr);
  const Fiber& fiber = m.fibers_[m.resolving_ * kSimdgroup + lane];
  std::memset(at, 0xff, bytes);
  m.watch_.set_undefined(at, bytes, OriginKind::lane, fiber.pc);
}
void Machine::hook_collective(ks::Post* post, ks::Resolve resolve) {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.post = post;
  fiber.resolve = resolve;
  fiber.mask = post->mask;
  m.wait(Wait::collective, __builtin_return_address(0));
}
void Machine::hook_barrier(ks::BarrierScope scope, ks::u32 orders) {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.orders = orders;
  fiber.resolve = nullptr;
  m.wait(scope == ks::BarrierScope::group ? Wait::group_barrier : Wait::simdgroup_barrier,
         __builtin_return_address(0));
}
void Machine::hook_warp_barrier(ks::u32 mask) {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[m.current_];
  fiber.resolve = nullptr;
  fiber.mask = mask;
  m.wait(Wait::simdgroup_barrier, __builtin_return_address(0));
}
void Machine::hook_block_barrier(ks::BlockBarrier* barrier) {
  Machine& m = *g_machine;
  Fiber& fiber = m.fibers_[m.current_];
  if (barrier->waits) {
    fiber.barrier = barrier;
    m.wait(Wait::group_barrier, __builtin_return_address(0));
    return;
  }
  Arrivals& arrivals = m.arrivals_[barrier->id & 15u];
  const std::uint32_t simdgroup = fiber.lane.thread.simdgroup;
  const Order::Known known = m.watch_.order().publish(simdgroup);
  if (arrivals.known.size() < known.size()) arrivals.known.resize(known.size());
  for (std::size_t i = 0; i < known.size(); ++i)
    arrivals.known[i] = std::max(arrivals.known[i], known[i]);
  ++arrivals.threads;
  arrivals.simdgroups |= 1u << simdgroup;
  // Full with nobody waiting: it opens for nobody, and counts anew.
  const bool waited_for = std::any_of(m.fibers_.begin(), m.fibers_.begin() + m.threads_, [&](const Fiber& f) {
    return f.wait == Wait::group_barrier && f.barrier->id == barrier->id;
  });
  if (arrivals.threads >= barrier->threads && !waited_for) arrivals = {};
}
void Machine::hook_start_copy(void* to, const void* from, ks::u32 bytes, ks::u32 from_bytes,
                              const void* pc) {
  KS_IN_HOOK(pc);
  m.watch_.start_copy(to, from, bytes, from_bytes, pc);
}
void Machine::hook_commit_copies() {
  KS_IN_HOOK(nullptr);
  m.watch_.commit_copies();
}
void Machine::hook_wait_for_copies(int pending) {
  KS_IN_HOOK(nullptr);
  m.watch_.wait_for_copies(pending);
}
void Machine::hook_fence() {
  KS_IN_HOOK(nullptr);
  const ks::Thread& thread = m.fibers_[m.current_].lane.thread;
  m.watch_.order().fence(thread.simdgroup, thread.index_in_group);
}
void Machine::hook_yield() {
  Machine& m = *g_machine;
  m.wait(Wait::ready, __builtin_return_address(0));
}
void* Machine::hook_group_memory() { return g_machine->watch_.group_memory(); }
#undef KS_IN_HOOK

}  // namespace ksearch::simt
