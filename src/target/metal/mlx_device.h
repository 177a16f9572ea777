// What talks to MLX: kernels of mx.fast.metal_kernel on this Mac's GPU, MLX's own operations beside
// them, both timed. mlx_device.cpp is all of it where CMake finds MLX, else mlx_device_absent.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/dtype.h"

namespace ksearch::target {

struct MlxState {
  bool built_in = false;  ///< this program was linked with MLX
  std::string version;    ///< of MLX
  bool has_metal = false;
  std::string device;  ///< the GPU's name
};
MlxState mlx_state();

/// Row contiguous, in the machine's byte order.
struct MlxTensor {
  std::string name;
  kernel::DType dtype = kernel::DType::float32;
  std::vector<std::int64_t> shape;  ///< empty: one number
  std::string bytes;                ///< empty for what a launch writes
};

/// One call of a kernel. Inputs are those of the work, or what launches before it wrote.
struct MlxLaunch {
  std::string kernel;
  std::string source;  ///< the body
  std::string header;
  std::vector<std::string> inputs;
  std::vector<MlxTensor> outputs;
  bool atomic_outputs = false;
  bool fast_math = false;
  std::optional<float> init;                     ///< of every output
  std::array<std::int64_t, 3> threads{1, 1, 1};  ///< of the whole grid
  std::array<std::int64_t, 3> group_size{1, 1, 1};
  /// A number, a truth value or an element type.
  using Argument = std::variant<int, bool, kernel::DType>;
  std::vector<std::pair<std::string, Argument>> arguments;
};

enum class MlxBaseline { attention, softmax, rms_norm };

/// MLX's own operation. Inputs by order: q, k, v; x; x, weight.
struct MlxNative {
  MlxBaseline what = MlxBaseline::softmax;
  float number = 1;     ///< attention: scale; rms_norm: eps
  bool causal = false;  ///< attention
};

enum class MlxPlace { gpu, cpu };  ///< kernels run on the GPU alone

struct MlxWork {
  std::vector<MlxTensor> inputs;
  std::variant<std::vector<MlxLaunch>, MlxNative> what;
  std::vector<std::string> outputs;  ///< launches: what comes back
  MlxPlace place = MlxPlace::gpu;
  int warm_up = 3;
  int samples = 0;  ///< timed evaluations
  /// The work so often in an evaluation, so that short kernels are not lost in the wait for their
  /// command buffer. Copies need nothing of each other: a GPU may overlap them.
  int copies = 1;
};

struct MlxAnswer {
  std::vector<MlxTensor> outputs;  ///< of a first, untimed evaluation; one named "out" of MlxNative
  /// Of each sample, a copy: making the graph, command buffers, kernels, and the wait.
  std::vector<double> seconds;
};

/// Usage errors for what MLX refuses, environment errors where MLX or a Metal device is missing.
base::Result<MlxAnswer> run_on_mlx(const MlxWork& work);

}  // namespace ksearch::target
