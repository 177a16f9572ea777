// Requests to memory: what the lanes of a SIMD-group ask for by one run of one instruction, and how
// many lines of device memory or turns of threadgroup memory that takes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simt/engine/order.h"

namespace ksearch::simt {

inline constexpr std::size_t kLineBytes = 128;
inline constexpr std::size_t kBankBytes = 4, kBanks = 32;
/// The widest access of one lane: neighbours up to this count as one.
inline constexpr std::size_t kWidestAccess = 16;

/// A set of numbers close to each other.
class CloseSet {
 public:
  void add(std::uint64_t number);
  void add(const CloseSet& other);
  /// Calls f(number) for each, those near the first one in order.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < near_.size(); ++i)
      for (std::uint64_t rest = near_[i]; rest != 0; rest &= rest - 1)
        f(base_ + 64 * i + static_cast<std::uint64_t>(std::countr_zero(rest)));
    if (!far_.empty()) sort_far();
    for (const std::uint64_t number : far_) f(number);
  }
  std::size_t size() const;
  /// The most numbers that are the same modulo 32.
  std::size_t most_in_a_bank() const;
  void clear();

 private:
  void sort_far() const;

  std::uint64_t base_ = 0;
  std::array<std::uint64_t, 2> near_{};
  bool empty_ = true;
  mutable std::vector<std::uint64_t> far_;
};

struct Request {
  std::uint32_t site = 0;
  MemoryKind memory = MemoryKind::device;
  std::uint32_t lanes = 0;
  /// Lanes whose access goes on where one of the request `neighbour` ends or begins.
  std::uint32_t joined = 0, neighbour = 0;
  CloseSet units;  ///< lines, or words of threadgroup memory
  bool is_own() const { return joined < lanes; }
};

/// Collects the accesses of one SIMD-group between two places where its lanes meet. Run k of an
/// instruction in one lane and run k in another are one request. The first million are kept.
class Requests {
 public:
  explicit Requests(std::size_t sites) : sites_(sites) {}

  void begin_lane();
  /// `at`: byte in its memory.
  void add(std::uint32_t site, MemoryKind memory, bool store, std::uint64_t at, std::size_t bytes);
  /// Calls f(request) for each that is no part of a neighbour's in all its lanes, and forgets all.
  template <class F>
  void finish(F&& f) {
    for (std::size_t i = 0; i < used_; ++i)
      if (!pool_[i].is_own()) pool_[pool_[i].neighbour].units.add(pool_[i].units);
    for (std::size_t i = 0; i < used_; ++i) {
      if (pool_[i].is_own()) f(pool_[i]);
      pool_[i].units.clear();
    }
    used_ = 0;
    ++phase_;
    begin_lane();
  }

 private:
  struct SiteState {
    std::uint64_t phase = 0, lane = 0;
    std::uint32_t runs = 0;  ///< of this lane
    std::vector<std::uint32_t> requests;
  };
  /// The last accesses of the lane, as far as they have grown.
  struct Open {
    std::uint32_t request = 0;
    std::uint64_t start = 0, end = 0;
    MemoryKind memory = MemoryKind::device;
    bool store = false, used = false;
  };

  Request* request(std::uint32_t site, MemoryKind memory, std::uint32_t& number);
  bool join(Request& request, bool store, std::uint64_t at, std::size_t bytes);
  static void mark(Request& request, std::uint64_t at, std::size_t bytes);

  std::vector<SiteState> sites_;
  std::vector<Request> pool_;
  std::size_t used_ = 0;
  std::uint64_t phase_ = 1, lane_ = 1;
  std::array<Open, 4> open_{};
  std::size_t next_open_ = 0;
};

}  // namespace ksearch::simt
