// What MLX is to do, as plain values: a plan's launches or an operation of its own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/dtype.h"

namespace ksearch::target {

/// Row contiguous, in the machine's byte order.
struct MlxTensor {
  std::string name;
  kernel::DType dtype = kernel::DType::float32;
  std::vector<std::int64_t> shape;  ///< empty: one number
  std::string bytes = {};           ///< empty where they come from elsewhere
};

/// What MLX compiles.
struct MlxKernel {
  std::string name;
  std::string source;  ///< the body
  std::string header = {};
  bool atomic_outputs = false;
  bool fast_math = false;
};

/// One call of a kernel. Inputs are those of the work, or what launches before it wrote.
struct MlxLaunch {
  std::size_t kernel = 0;  ///< of the work's kernels
  std::vector<std::string> inputs;
  std::vector<MlxTensor> numbers;  ///< inputs of its own, of no dimension, with their bytes
  std::vector<MlxTensor> outputs;
  std::optional<float> init;                     ///< of every output
  std::array<std::int64_t, 3> threads{1, 1, 1};  ///< of the whole grid
  std::array<std::int64_t, 3> group_size{1, 1, 1};
  /// A number, a truth value or an element type.
  using Argument = std::variant<int, bool, kernel::DType>;
  std::vector<std::pair<std::string, Argument>> arguments;
};

enum class MlxOperation { attention, matmul, rms_norm, softmax };

/// MLX's own operation on all inputs of the work, in their order: q, k, v; a, b; x, weight; x.
struct MlxNative {
  MlxOperation what = MlxOperation::softmax;
  float number = 1;     ///< attention: scale; rms_norm: eps
  bool causal = false;  ///< attention
};

enum class MlxPlace { gpu, cpu };  ///< kernels run on the GPU alone

struct MlxWork {
  std::vector<MlxTensor> inputs;
  std::vector<MlxKernel> kernels;
  std::variant<std::vector<MlxLaunch>, MlxNative> what;
  std::vector<std::string> outputs;  ///< what comes back; one name for an operation of MLX's
  MlxPlace place = MlxPlace::gpu;
};

}  // namespace ksearch::target
