// How far an output may be from the float64 reference.
#pragma once

#include <optional>

#include "kernel/dtype.h"

namespace ksearch::kernel {

enum class Compare {
  allclose,   ///< by Tolerance
  exact,      ///< every element equal
  topk_ties,  ///< indices: equal up to ties of the values they select
};

/// relative_rms: rms(out - ref) / rms(ref). element_factor: no element off by more than
/// factor * relative_rms * (|ref| + rms(ref)). Definitions from elsewhere bring rtol and atol
/// instead: |out - ref| <= atol + rtol |ref| for at least `required_match` of the elements.
struct Tolerance {
  double relative_rms = 1e-5;
  double element_factor = 50.0;
  std::optional<double> rtol;
  std::optional<double> atol;
  double required_match = 1.0;
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// Design, section 3: float32 1e-5, float16 2e-3, bfloat16 1e-2 (libraries stay at 3e-7 to 1.5e-6,
/// 6e-4 and 5e-3; cpu.md).
Tolerance default_tolerance(DType type);

}  // namespace ksearch::kernel
