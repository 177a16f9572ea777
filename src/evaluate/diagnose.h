// What is wrong with an output, in a sentence for an engineer: the pattern of the wrong elements
// says more than their number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ksearch::evaluate {

/// A failed comparison. `wrong` marks elements; none may be marked only if all are near.
struct Mismatch {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::string> axes;  ///< what each dimension is called
  std::span<const double> got;
  std::span<const double> want;
  const std::vector<bool>& wrong;
  std::int64_t unwritten = 0;  ///< elements that still hold the poison
  double error = 0;            ///< relative rms error
  std::string rule;            ///< what was broken, in words
};

/// "out[3, 0] is 0.12, wanted 0.25; 2048 of 4096 elements are wrong, all of them where rows >= 2;
/// relative rms error 0.7, 1e-05 is allowed".
std::string diagnose(const Mismatch& mismatch);

}  // namespace ksearch::evaluate
