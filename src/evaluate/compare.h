// Whether an output is right, and if not, what an engineer needs to mend it: where, what was
// wanted, what came, how many are wrong, and what the pattern looks like.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/definition.h"
#include "kernel/tolerance.h"
#include "kernel/workload.h"

namespace ksearch::evaluate {

struct OutputSpec {
  kernel::TensorShape shape;
  std::vector<std::string> axes;  ///< what the definition calls each dimension: "rows", "Lk"
  kernel::Compare compare = kernel::Compare::allclose;
  kernel::Tolerance tolerance;
};

struct Comparison {
  bool right = false;
  double error = 0;        ///< relative rms error; NaN where the output holds a NaN
  double tolerance = 0;    ///< that it was held to
  std::int64_t wrong = 0;  ///< elements outside the element rule (or unequal)
  std::string why;         ///< where it is wrong: one or two sentences
};

/// Outputs and inout inputs of a workload with the tolerance that holds for each.
std::vector<OutputSpec> outputs_of(const kernel::Definition& definition,
                                   const std::vector<kernel::TensorShape>& tensors);

/// A value that no honest program leaves in an output, drawn anew for each batch: NaNs with a
/// secret payload in floats, a secret number in integers.
struct Poison {
  std::uint64_t bits = 0;
  /// Fills the whole tensor.
  void fill(kernel::DType dtype, std::span<std::byte> out) const;
  /// How many elements still hold it. Always 0 for types under 32 bits that are no floats: there an
  /// honest value may be the same.
  std::int64_t left(kernel::DType dtype, std::span<const std::byte> out) const;
};

/// Against float64, or against what another program made of the same inputs: `slack` is then that
/// program's own relative error, and is added to what is allowed. `want` holds no NaN; an infinity
/// must be met by the same. With `poison`, elements that were never written are said to be that.
Comparison compare(const OutputSpec& output, std::span<const std::byte> got,
                   std::span<const double> want, const Poison* poison = nullptr, double slack = 0);

}  // namespace ksearch::evaluate
