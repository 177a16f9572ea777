#include "target/cpu/thread_pool.h"

#include <algorithm>

#include "target/cpu/wait.h"

namespace ksearch::target {
namespace {

// A thread takes one part in (threads x this) of what is left: large pieces first, single groups at
// the end, so that groups of different length (causal attention) even out and few cache lines
// travel.
constexpr std::int64_t kPartsAThread = 4;
// Pauses before a waiting thread yields once, and yields before it sleeps (about 200 us).
constexpr int kPausesAYield = 64;
constexpr int kYields = 64;

}  // namespace

ThreadPool::ThreadPool(int workers, const std::vector<int>& pin, const std::function<void()>& enter)
    : workers_(std::max(1, workers)) {
  std::atomic<int> entered{1};
  const auto settle = [&](int worker) {
    if (static_cast<std::size_t>(worker) < pin.size())
      pin_thread(pin[static_cast<std::size_t>(worker)]);
    enter();
  };
  for (int worker = 1; worker < workers_; ++worker)
    threads_.emplace_back([this, worker, &settle, &entered] {
      settle(worker);
      entered.fetch_add(1);
      loop(worker);
    });
  settle(0);
  while (entered.load() < workers_) std::this_thread::yield();
  rest();
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.word.fetch_add(1);
  wake_all(generation_.word);
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::ready() {
  if (workers_ == 1) return;
  resting_.word.store(0);
  begin([](void*, std::int64_t, std::int64_t, int) {}, nullptr, 0);
  finish();
}

void ThreadPool::rest() { resting_.word.store(1); }

void ThreadPool::run(PoolBody body, void* context, std::int64_t total) {
  if (workers_ == 1 || total == 1) {
    body(context, 0, total, 0);
    return;
  }
  begin(body, context, total);
  work(0);
  finish();
}

void ThreadPool::begin(PoolBody body, void* context, std::int64_t total) {
  body_ = body;
  context_ = context;
  total_ = total;
  next_.store(0, std::memory_order_relaxed);
  left_.word.store(static_cast<std::uint32_t>(workers_ - 1), std::memory_order_relaxed);
  // Sequentially consistent with the sleeper's: either it sees the new launch or we see it asleep.
  generation_.word.fetch_add(1);
  if (sleepers_.word.load() != 0) wake_all(generation_.word);
}

void ThreadPool::finish() {
  for (int pauses = 0; left_.word.load(std::memory_order_acquire) != 0; ++pauses) {
    cpu_pause();
    if (pauses % kPausesAYield == kPausesAYield - 1) std::this_thread::yield();
  }
  if (has_thrown_.load(std::memory_order_acquire)) std::rethrow_exception(thrown_);
}

void ThreadPool::work(int worker) {
  std::int64_t first = next_.load(std::memory_order_relaxed);
  while (first < total_) {
    const std::int64_t last =
        first + std::max<std::int64_t>(1, (total_ - first) / (workers_ * kPartsAThread));
    if (!next_.compare_exchange_weak(first, last, std::memory_order_relaxed)) continue;
    body_(context_, first, last, worker);
    first = next_.load(std::memory_order_relaxed);
  }
}

void ThreadPool::loop(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    int yields = 0;
    for (int pauses = 0; generation_.word.load(std::memory_order_acquire) == seen; ++pauses) {
      cpu_pause();
      if (pauses % kPausesAYield != kPausesAYield - 1) continue;
      if (resting_.word.load(std::memory_order_relaxed) == 0 && ++yields < kYields) {
        std::this_thread::yield();
        continue;
      }
      sleepers_.word.fetch_add(1);
      sleep_while(generation_.word, seen);
      sleepers_.word.fetch_sub(1);
    }
    seen = generation_.word.load(std::memory_order_acquire);
    if (stop_) return;
    try {
      work(worker);
    } catch (...) {  // candidate code may throw anything; it is handed on, not decided upon
      if (!has_thrown_.exchange(true)) thrown_ = std::current_exception();
    }
    left_.word.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace ksearch::target
