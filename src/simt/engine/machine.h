// Runs the groups of a launch: a fiber a thread, SIMD-group by SIMD-group to where its lanes wait,
// results of what they wait for, barriers, and what is wrong with those.
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <span>
#include <vector>

#include "base/random.h"
#include "simt/engine/watch.h"

namespace ksearch::simt {

enum class Schedule : std::uint8_t { forward, reversed, random };

struct GroupPlan {
  const ks::Kernel* kernel = nullptr;
  std::array<std::uint32_t, 3> groups{1, 1, 1}, group_size{1, 1, 1};
  std::optional<std::array<std::uint32_t, 3>> threads;
  std::vector<std::uint32_t> group_memory;
  std::array<void*, 64> buffers{};
  std::vector<ks::Value> values;
  bool masked = false;  ///< CUDA: lanes name whom they wait for, and need not go together
  int number = 0;
};

struct Counts {
  std::uint64_t groups = 0, threads = 0, simd_operations = 0, group_barriers = 0,
                simdgroup_barriers = 0;
};

/// Of two places where lanes wait: outermost call first; where one path goes on and the other ends,
/// the one that ends.
bool earlier(const ks::Lane& a, const ks::Lane& b);

class Machine {
 public:
  static constexpr std::uint32_t kMostThreads = 1024;
  /// A stack and the page below it that nobody may touch.
  static constexpr std::size_t kStack = 128 << 10;
  static std::size_t stack_bytes() { return (kMostThreads + 1) * kStack; }

  Machine(Watch& watch, const ks::Attachment& attachment, Schedule schedule, std::uint64_t seed);
  ~Machine();
  Machine(const Machine&) = delete;

  /// False where a fault or a loop without end stopped it; the finding is there.
  bool run(const GroupPlan& plan);
  const Counts& counts() const { return counts_; }

 private:
  enum class Wait : std::uint8_t { ready, collective, simdgroup_barrier, group_barrier, done };
  struct Fiber {
    ks::Lane lane{};
    void* top = nullptr;
    std::vector<std::byte> call_state;  ///< clang's, 8 KiB
    Wait wait = Wait::ready;
    ks::Post* post = nullptr;
    ks::Resolve resolve = nullptr;
    std::uint32_t orders = 0;
    const void* pc = nullptr;
    // CUDA.
    std::uint32_t mask = 0;
    ks::BlockBarrier* barrier = nullptr;
    const void* spun_at = nullptr;
    std::uint32_t spins = 0;
  };
  /// A barrier of CUDA to which threads have come that did not wait.
  struct Arrivals {
    std::uint32_t threads = 0, simdgroups = 0;
    Order::Known known;
  };

  // What the object calls.
  static ks::Meta hook_load(const void* at, ks::u64 bytes, const void* pc);
  static ks::Meta hook_store(void* at, ks::u64 bytes, const void* pc);
  static void hook_copy(void* to, const void* from, ks::u64 bytes, const void* pc);
  static void hook_fill(void* to, int byte, ks::u64 bytes, const void* pc);
  static void hook_used_undefined(ks::u32 origin, const void* pc);
  static void hook_begin_variable(void* at, ks::u64 bytes, const void* pc);
  static void hook_end_variable(void* at, ks::u64 bytes);
  static void hook_misaligned(const void* at, ks::u64 alignment, const void* pc);
  static void hook_outside_array(const void* pc);
  static void* hook_group_array(const void* key, ks::u64 bytes, ks::u64 alignment, const char* name,
                                const void* pc);
  static void hook_collective(ks::Post* post, ks::Resolve resolve);
  static void hook_barrier(ks::BarrierScope scope, ks::u32 orders);
  static void hook_undefined_lane(void* at, ks::u64 bytes, ks::u32 lane);
  static void hook_atomic(const void* at, ks::u64 bytes, bool loads, bool stores, const void* pc);

  static void hook_warp_barrier(ks::u32 mask);
  static void hook_block_barrier(ks::BlockBarrier* barrier);
  static void hook_start_copy(void* to, const void* from, ks::u32 bytes, ks::u32 from_bytes,
                              const void* pc);
  static void hook_commit_copies();
  static void hook_wait_for_copies(int pending);
  static void hook_fence();
  static void hook_yield();
  static void* hook_group_memory();

  static void fiber_main();
  static void resolver_main();
  static void on_fault(int signal, siginfo_t* info, void* context);
  static void on_tick(int signal, siginfo_t* info, void* context);

  void run_group(std::uint32_t number, std::array<std::uint32_t, 3> group);
  void place_threads(std::array<std::uint32_t, 3> group);
  bool step(std::uint32_t simdgroup);
  void resolve(std::uint32_t simdgroup, std::uint32_t mask);
  void resolve_simdgroup_barrier(std::uint32_t simdgroup, std::uint32_t mask);
  bool release_group_barrier();
  // CUDA: warps.cpp.
  bool step_masked(std::uint32_t simdgroup);
  std::uint32_t alike(std::uint32_t simdgroup, const Fiber& one) const;
  std::uint32_t named_by(std::uint32_t simdgroup, const Fiber& one) const;
  void serve(std::uint32_t simdgroup, std::uint32_t mask);
  void tell_absent(std::uint32_t simdgroup, std::uint32_t mask, const Fiber& one);
  bool release_masked();
  bool release_block_barrier(std::uint32_t id, bool incomplete);
  void tell_divergence(std::uint32_t id, std::uint32_t come, std::uint32_t asked);
  void give_way(const void* at, const void* pc);
  void switch_to(std::uint32_t fiber);
  void wait(Wait what, const void* pc);
  void arm(bool on);
  std::vector<std::uint32_t> order_of_simdgroups();

  Watch& watch_;
  ks::Attachment attachment_;
  ks::Engine engine_{};
  Schedule schedule_;
  base::Random random_;
  GroupPlan plan_;
  ks::Arguments arguments_{};
  std::vector<Fiber> fibers_;  ///< the last one computes results
  std::uint32_t threads_ = 0, simdgroups_ = 0, current_ = 0;
  std::array<ks::Post*, 32> posts_{};
  std::uint32_t mask_ = 0, resolving_ = 0;
  ks::Resolve resolve_ = nullptr;
  void* scheduler_top_ = nullptr;
  Counts counts_;
  std::array<Arrivals, 16> arrivals_;
  std::clock_t idle_since_ = 0;  ///< of a group in which lanes only try again
  bool stopped_ = false;  ///< threads that never end

  // Of the signal handlers.
  sigjmp_buf escape_;
  volatile std::sig_atomic_t in_hook_ = 0, expired_ = 0, running_ = 0;
  volatile std::uint64_t switches_ = 0, switches_at_tick_ = 0;
  volatile int idle_ticks_ = 0;
  const void* volatile fault_at_ = nullptr;
  const void* volatile fault_pc_ = nullptr;
  std::vector<std::byte> signal_stack_;
};

}  // namespace ksearch::simt
