// Runs groups on one OS thread: a lane a thread, SIMD-group by SIMD-group to where its lanes wait,
// results of what they wait for, barriers, and what is wrong with those. A lane that never waits
// runs on the stack of the one before it; one that waits keeps its stack, and hands the processor
// to the next lane directly.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "simt/engine/program_counter.h"
#include "simt/engine/sample.h"
#include "simt/engine/trace.h"
#include "simt/engine/watch.h"

namespace ksearch::simt {

enum class Schedule : std::uint8_t { forward, reversed, random };

struct GroupPlan {
  const ks::Kernel* kernel = nullptr;
  std::array<std::uint32_t, 3> groups{1, 1, 1}, group_size{1, 1, 1};
  std::optional<std::array<std::uint32_t, 3>> threads;
  std::vector<std::uint32_t> group_memory;
  std::array<void*, 64> buffers{};
  std::vector<ks::Value> values;                          ///< CUDA
  std::vector<std::shared_ptr<std::string>> value_bytes;  ///< what they point to
  bool masked = false;  ///< CUDA: lanes name whom they wait for, and need not go together
  int number = 0;
  std::vector<SampledGroup> sample;  ///< that are traced
  bool sample_only = false;          ///< the others do not run
};

struct Counts {
  std::uint64_t groups = 0, threads = 0, simd_operations = 0, group_barriers = 0,
                simdgroup_barriers = 0;
  Counts& operator+=(const Counts& other);
};

/// Memory of one OS thread's lanes.
struct LaneMemory {
  /// A stack and the page below it that nobody may touch.
  static constexpr std::size_t kStack = 128 << 10;
  std::byte* begin = nullptr;
  std::uint32_t lanes = 0;  ///< in a group, at most

  static std::size_t bytes(std::uint32_t lanes) {
    return lanes * (kStack + sizeof(ks::Mailbox)) +
           (lanes * sizeof(ks::Post*) + 4095) / 4096 * 4096;
  }
  ks::Mailbox* mailboxes() const { return reinterpret_cast<ks::Mailbox*>(begin + lanes * kStack); }
  ks::Post** posts() const { return reinterpret_cast<ks::Post**>(mailboxes() + lanes); }
};

/// Of two places where lanes wait: outermost call first; where one path goes on and the other ends,
/// the one that ends.
bool earlier(const ks::Lane& a, const ks::Lane& b);

class Machine {
 public:
  static constexpr std::uint32_t kMostThreads = 1024;

  struct Options {
    Schedule schedule = Schedule::forward;
    std::uint64_t seed = 0;
    int patience = 10;  ///< CPU seconds in which a lane must reach a wait or its end
  };
  Machine(Watch& watch, LaneMemory memory, const Options& options);
  ~Machine();
  Machine(const Machine&) = delete;

  /// For the OS thread that calls it: signals, the object's variables. Before the system call lock
  /// and after it.
  void enter_thread();
  void attach(const ks::Attachment& attachment) { attachment_ = attachment; }
  /// From now on; the object is one that tells what it does.
  void set_trace(Trace* trace) { trace_ = trace; }
  static const ks::Engine& engine();

  /// Runs groups whose numbers `next` gives, to its end. False where a fault or a loop without end
  /// stopped it; the finding is there.
  bool run(const GroupPlan& plan, const std::function<std::optional<std::uint32_t>()>& next);
  const Counts& counts() const { return counts_; }
  Watch& watch() { return watch_; }

 private:
  static constexpr int kNobody = -1;
  enum class Wait : std::uint8_t { none, collective, simdgroup_barrier, group_barrier, done };
  /// What a turn of a lane needs lies in one cache line.
  struct alignas(64) Fiber {
    void* top = nullptr;  ///< null: not started
    ks::Resolve resolve = nullptr;
    const void* pc = nullptr;
    std::uint32_t orders = 0;
    Wait wait = Wait::none;
    // CUDA.
    std::uint32_t mask = 0, spins = 0;
    ks::BlockBarrier* barrier = nullptr;
    const void* spun_at = nullptr;
    ks::Lane lane{};
  };
  /// A barrier of CUDA to which threads have come that did not wait.
  struct Arrivals {
    std::uint32_t threads = 0, simdgroups = 0;
    Order::Past past;
  };
  /// Lanes of a SIMD-group, by what they do.
  struct Simdgroup {
    std::uint32_t ready = 0, waiting = 0, at_barrier = 0;
    std::uint32_t yielded = 0;  ///< CUDA: gave others a turn
    bool uniform = true;        ///< those that wait all wait for the same
  };
  enum class Stop : std::sig_atomic_t { none, fault, system_call, expired, order };

  // What the object calls.
  friend struct Hooks;
  static void fiber_main();
  // In faults.cpp.
  static void install_handlers();
  static void on_fault(int signal, siginfo_t* info, void* context);
  static void on_tick(int signal, siginfo_t* info, void* context);
  void tell_stop();
  [[noreturn]] void stop_at(const CodePosition& position);
  void note_callers(const CodePosition& position);

  void run_group(std::uint32_t number);
  void place_threads(std::array<std::uint32_t, 3> group);
  void mark_constants(const GroupPlan& plan);
  const SampledGroup* sampled(std::uint32_t group) const;
  bool release_group_barrier();
  std::vector<std::uint32_t> order_of_simdgroups(std::uint32_t number, std::uint32_t stage) const;

  // In lanes.cpp.
  void run_simdgroup(std::uint32_t simdgroup);
  /// The next lane of the SIMD-group to run, after serving those that wait where nobody else can
  /// run. kNobody where all are done or at a barrier of the group.
  int next_lane();
  Fiber& fiber(int index) { return fibers_[static_cast<std::size_t>(index)]; }
  void serve();
  std::uint32_t those_at_the_earliest_place() const;
  void resolve_simdgroup_barrier(std::uint32_t mask);
  void select(int index);
  /// Goes on with a lane that has a stack, or starts one on a fresh stack.
  void* top_of(int index);
  void* fresh_top();
  void wait(Fiber& fiber, Wait what, const void* pc);
  static void collective(ks::Resolve resolve, ks::u32 source, const void* pc);
  static void barrier(ks::BarrierScope scope, ks::u32 orders);
  std::byte* take_stack();
  static bool same_place(const Fiber& a, const Fiber& b);
  void hand_over(Fiber& fiber);
  static void warp_barrier(ks::u32 mask);
  static void block_barrier(ks::BlockBarrier* barrier);
  void yield(const void* pc);

  // CUDA: warps.cpp.
  bool serve_masked();
  std::uint32_t alike(const Simdgroup& group, std::uint32_t first, const Fiber& one) const;
  std::uint32_t named_by(std::uint32_t first, const Fiber& one) const;
  void serve_lanes(std::uint32_t mask);
  void tell_absent(std::uint32_t mask, const Fiber& one);
  bool release_masked();
  bool force_stuck();
  bool release_block_barrier(std::uint32_t id, bool incomplete);
  void order_barrier(const std::vector<Fiber*>& waiting, const Arrivals& arrivals);
  void tell_divergence(std::uint32_t id, std::uint32_t come, std::uint32_t asked);
  void arrive(const ks::BlockBarrier& barrier);
  void give_way(const void* at, const void* pc);

  Watch& watch_;
  Trace* trace_ = nullptr;
  LaneMemory memory_;
  ks::Attachment attachment_{};
  Options options_;
  GroupPlan plan_;
  ks::Arguments arguments_{};
  std::vector<Fiber> fibers_;
  std::vector<Simdgroup> simdgroup_;
  std::vector<std::byte*> free_stacks_;  ///< their ends
  std::uint32_t stacks_made_ = 0;
  std::uint32_t threads_ = 0, current_ = 0, first_ = 0;  ///< first_: lane 0 of the SIMD-group
  Simdgroup* group_ = nullptr;                           ///< the SIMD-group that runs
  void* scheduler_top_ = nullptr;
  void* left_ = nullptr;               ///< where a lane that is done saves what nobody needs
  std::vector<std::byte> call_state_;  ///< clang's; one for all lanes, see lanes.cpp
  Counts counts_;
  std::array<Arrivals, 16> arrivals_;
  std::clock_t idle_since_ = 0;  ///< of a group in which lanes only try again
  bool endless_ = false;         ///< threads that never end

  // Of the signal handlers.
  sigjmp_buf escape_;
  volatile std::sig_atomic_t in_hook_ = 0, running_ = 0;
  volatile Stop stop_ = Stop::none;
  volatile std::uint64_t steps_ = 0, steps_at_tick_ = 0;
  volatile int idle_ticks_ = 0;
  const void* volatile fault_at_ = nullptr;
  const void* volatile fault_pc_ = nullptr;
  std::array<const void*, 16> callers_{};  ///< what may be the place's, innermost first
  volatile long refused_ = 0;
  volatile std::uint64_t refused_argument_ = 0;
  std::vector<std::byte> signal_stack_;
};

[[gnu::always_inline]] inline bool Machine::same_place(const Fiber& a, const Fiber& b) {
  if (a.wait != b.wait || a.resolve != b.resolve || a.lane.depth != b.lane.depth) return false;
  const std::uint32_t n = std::min(a.lane.depth, ks::Lane::kDeepest);
  for (std::uint32_t i = 0; i < n; ++i)
    if (a.lane.path[i] != b.lane.path[i]) return false;
  return true;
}

/// The machine of the calling OS thread: functions that an object calls, and signal handlers, have
/// no other way to it.
extern constinit thread_local Machine* t_machine;

}  // namespace ksearch::simt
