// What exported C++ stands on: division that rounds down, a team of threads that takes work groups
// one by one, and workspace cut into aligned pieces. Its text goes into every export.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

// begin
inline int64_t floor_div(int64_t a, int64_t b, bool& bad) {
  if (b == 0) {
    bad = true;
    return 0;
  }
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
inline int64_t floor_mod(int64_t a, int64_t b, bool& bad) { return a - floor_div(a, b, bad) * b; }
inline int64_t ceil_div(int64_t a, int64_t b, bool& bad) { return -floor_div(-a, b, bad); }

/// Threads that run the launches of one call together: each takes the next group that nobody has.
class Team {
 public:
  explicit Team(int workers) : workers_(workers), barrier_(workers, Reset{&next_}) {}
  int workers() const { return workers_; }

  /// All workers call it with the same groups, and leave it when the last group is done.
  template <class Kernel>
  void run(int worker, const int64_t (&count)[3], void* memory, Kernel kernel) {
    const int64_t total = count[0] * count[1] * count[2];
    ks_group group{{0, 0, 0}, {count[0], count[1], count[2]}, worker, workers_, memory};
    for (;;) {
      const int64_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= total) break;
      group.id[0] = i % count[0];
      group.id[1] = i / count[0] % count[1];
      group.id[2] = i / count[0] / count[1];
      kernel(&group);
    }
    barrier_.arrive_and_wait();
  }
  /// Fills a tensor before a launch that adds to it.
  template <class T>
  void fill(int worker, T* to, int64_t elements, float value) {
    if (worker == 0)
      for (int64_t i = 0; i < elements; ++i) to[i] = static_cast<T>(value);
    barrier_.arrive_and_wait();
  }

 private:
  struct Reset {
    std::atomic<int64_t>* next;
    void operator()() noexcept { next->store(0, std::memory_order_relaxed); }
  };
  int workers_;
  std::atomic<int64_t> next_{0};
  std::barrier<Reset> barrier_;
};

/// Calls work(team, worker) on `threads` threads, on fewer where the system has no more to give.
template <class Work>
void run_team(int threads, Work work) {
  std::optional<Team> team;
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < threads; ++i)
      others.emplace_back([&, i] {
        go.wait(false);
        work(*team, i);
      });
  } catch (const std::system_error&) {
  }
  team.emplace(static_cast<int>(others.size()) + 1);
  go.store(true);
  go.notify_all();
  work(*team, 0);
  for (std::thread& other : others) other.join();
}

/// Cuts a block into pieces of whole cache lines. Without a block it only counts.
class Pieces {
 public:
  explicit Pieces(void* block) : block_(static_cast<char*>(block)) {
    const auto address = reinterpret_cast<uintptr_t>(block_);
    if (block_) block_ += (kLine - address % kLine) % kLine;
  }
  void* take(int64_t bytes) {
    const size_t at = used_;
    used_ += (static_cast<size_t>(bytes) + kLine - 1) / kLine * kLine;
    return block_ ? block_ + at : nullptr;
  }
  /// With room for aligning a block that is not.
  size_t needed() const { return used_ == 0 ? 0 : used_ + kLine; }

 private:
  static constexpr size_t kLine = 64;
  char* block_;
  size_t used_ = 0;
};
// end
