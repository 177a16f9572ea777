// How far a time is from what the machine can do: the larger of the time that the work takes at the
// measured rate of arithmetic (where special functions have a known cost: of issuing the operations
// that the definition counts) and the time that the least traffic takes at the measured bandwidth.
#pragma once

#include <string>

#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::evaluate {

struct Ceiling {
  double ns = 0;         ///< no program can be faster; 0 where nothing is known
  std::string bound_by;  ///< "compute", "bandwidth", or empty
};

/// `tensors` decide the type of arithmetic: bfloat16 and float16 inputs may use units that float32
/// cannot. The working set is all tensors.
Ceiling ceiling_of(const kernel::Work& work, const std::vector<kernel::TensorShape>& tensors,
                   const kernel::HardwareProfile& device);

/// A measured ceiling is itself noisy: beyond this share of it a time is not believed.
inline constexpr double kBelievable = 1.05;

}  // namespace ksearch::evaluate
