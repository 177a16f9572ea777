// mx::fast::metal_kernel with its kernels run by `ksearch check`, for exports compiled behind
// `#define metal_kernel metal_kernel_in_engine`. MLX's own is called first and checks the
// arguments; what it says instead of running, "No Metal back-end", is where the engine begins.
#pragma once

#include <mlx/mlx.h>

#include <string>
#include <vector>

namespace mlx::core::fast {

/// Where the environment has KSEARCH, the program, calls run in it and leave their case in
/// $KSEARCH_CASES/0, 1, ...; without it they throw what MLX throws.
CustomKernelFunction metal_kernel_in_engine(const std::string& name,
                                            const std::vector<std::string>& input_names,
                                            const std::vector<std::string>& output_names,
                                            const std::string& source, const std::string& header,
                                            bool ensure_row_contiguous, bool atomic_outputs);
/// Calls of the above so far.
int metal_kernels_built();

}  // namespace mlx::core::fast
