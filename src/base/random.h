// A seeded random source: the same seed gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace ksearch::base {

/// SplitMix64 (Steele, Lea, Flood 2014). Cheap to copy; `fork` gives an independent stream by name,
/// so that one part's draws never shift another's.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Uniform in [0, n); n > 0. The bias is below n / 2^64.
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
  Random fork(std::string_view name) const {
    return Random(fnv1a(name, state_ ^ 0x6a09e667f3bcc909ull));
  }
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace ksearch::base
