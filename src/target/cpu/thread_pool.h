// The threads of a CPU worker: they share out the groups of one launch at a time, dynamically, and
// meet at its end. Made once, before the system call filter forbids new ones.
//
//   ready ── run, run, ... (threads spin between launches) ── rest (threads sleep)
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ksearch::target {

/// Items [first, last) of `total`, on thread `worker`.
using PoolBody = void (*)(void* context, std::int64_t first, std::int64_t last, int worker);

class ThreadPool {
 public:
  /// `workers` threads, the caller is number 0. `pin[i]` is thread i's CPU; empty: not pinned.
  /// `enter` runs first in each thread, the caller's too.
  ThreadPool(int workers, const std::vector<int>& pin, const std::function<void()>& enter);
  ThreadPool(const ThreadPool&) = delete;
  ~ThreadPool();

  int workers() const { return workers_; }
  /// Wakes the threads and keeps them spinning until `rest`, so that the first launch finds them.
  void ready();
  /// Lets them sleep: the parent needs a CPU to read its clock.
  void rest();
  /// Calls `body` for all of [0, total) in chunks, and returns when every one is finished. An
  /// exception out of `body`, on whichever thread, comes out here; the pool is then of no more use.
  void run(PoolBody body, void* context, std::int64_t total);

 private:
  struct alignas(64) Line {
    std::atomic<std::uint32_t> word{0};
  };
  void loop(int worker);
  void work(int worker);
  void begin(PoolBody body, void* context, std::int64_t total);
  void finish();

  int workers_;
  PoolBody body_ = nullptr;
  void* context_ = nullptr;
  std::int64_t total_ = 0;
  Line generation_;  // counts launches; threads wait for it to change
  Line left_;        // threads that have not finished this launch
  Line resting_;
  Line sleepers_;
  std::exception_ptr thrown_;  // by a thread other than the caller's; guarded by left_
  std::atomic<bool> has_thrown_{false};
  alignas(64) std::atomic<std::int64_t> next_{0};
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
};

}  // namespace ksearch::target
