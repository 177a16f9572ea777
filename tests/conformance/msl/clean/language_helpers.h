// Included by language.metal.
#pragma once

namespace helpers {
constant constexpr int kAnswer = 42;
inline float answer() { return float(kAnswer); }
}  // namespace helpers
