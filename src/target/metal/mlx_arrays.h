// Our values as MLX takes them, and back. For the files that talk to MLX alone: what does not fit
// is thrown, as MLX does it.
#pragma once

#include <mlx/mlx.h>

#include <span>
#include <string>
#include <tuple>

#include "target/metal/mlx_work.h"

namespace ksearch::target {
namespace mx = mlx::core;

mx::Dtype dtype_of(kernel::DType type);
mx::Shape shape_of(const std::vector<std::int64_t>& sizes);
std::tuple<int, int, int> triple(const std::array<std::int64_t, 3>& sizes);
mx::fast::TemplateArg argument_of(const MlxLaunch::Argument& argument);

/// `bytes` aligned for the type. Bit for bit, whatever they mean.
mx::array array_of(const MlxTensor& tensor, std::span<const std::byte> bytes, mx::Device device);
/// With the bytes that it brings.
mx::array number_of(const MlxTensor& number, mx::Device device);
/// Of an evaluated, row contiguous array.
MlxTensor tensor_of(const std::string& name, const mx::array& array);

}  // namespace ksearch::target
