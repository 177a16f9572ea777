// What MLX is given to call: kernels, by a seam at which tests on a machine without a Metal device
// put MLX's CPU operations, and its own operations.
#pragma once

#include <string>
#include <vector>

#include "target/metal/mlx_arrays.h"

namespace ksearch::target {

struct MlxDispatch {
  mx::fast::CustomKernelFunction (*make)(const MlxKernel& kernel,
                                         const std::vector<std::string>& inputs,
                                         const std::vector<std::string>& outputs);
};
/// mx.fast.metal_kernel.
extern const MlxDispatch kMetalDispatch;

mx::array call_native(const MlxNative& native, const std::vector<mx::array>& in, mx::Device device);

}  // namespace ksearch::target
