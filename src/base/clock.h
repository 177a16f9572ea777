// Time, passed in so that tests can replace it.
#pragma once

#include <chrono>

namespace ksearch::base {

/// Monotonic time for budgets, leases and measurements.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::nanoseconds now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

/// For tests: stands still until told.
class ManualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return now_; }
  void advance(std::chrono::nanoseconds by) { now_ += by; }

 private:
  std::chrono::nanoseconds now_{0};
};

}  // namespace ksearch::base
