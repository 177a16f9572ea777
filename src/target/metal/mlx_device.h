// What talks to MLX: kernels of mx.fast.metal_kernel on this Mac's GPU, MLX's own operations beside
// them, both timed. mlx_device.cpp is all of it where CMake finds MLX, else mlx_device_absent.cpp.
//
//   MlxWork ── make_mlx_runner ──> MlxRunner    arm:     arrays of the inputs, the graph, compiled
//                                               go:      runs it; this is what is timed
//                                               collect: outputs, and inputs as they are now
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/metal/mlx_work.h"

namespace ksearch::target {

struct MlxState {
  bool built_in = false;  ///< this program was linked with MLX
  std::string version;    ///< of MLX
  bool has_metal = false;
  std::string device;        ///< the GPU's name: "Apple M1 Max"
  std::string architecture;  ///< "applegpu_g13s"
};
MlxState mlx_state();

/// Contents of one call, by name of input or output; aligned for their types.
using MlxSet = std::map<std::string, std::span<std::byte>>;

/// Usage errors for what MLX refuses; its own words then.
class MlxRunner {
 public:
  virtual ~MlxRunner() = default;
  /// One call after another, call i on `sets[order[i]]`: arrays of their inputs, kernels compiled,
  /// the graph made. The memory that outputs will have holds what the sets' outputs hold now, as
  /// far as MLX's allocator gives it out again. No call has begun when it returns.
  virtual base::Result<void> arm(std::span<const MlxSet> sets, std::span<const int> order) = 0;
  /// Each call begins when the one before has ended, as in a model whose layers need each other.
  virtual base::Result<void> go() = 0;
  /// Into the sets that were armed, which must still be there.
  virtual base::Result<void> collect() = 0;
};

/// How kernels become calls: mx.fast.metal_kernel, or what a test puts in its place
/// (mlx_dispatch.h).
struct MlxDispatch;

/// An environment error where MLX or a Metal device is missing.
base::Result<std::unique_ptr<MlxRunner>> make_mlx_runner(MlxWork work,
                                                         const MlxDispatch* dispatch = nullptr);

struct MlxTiming {
  int warm_up = 3;
  int samples = 0;  ///< timed evaluations
  /// The work so often in an evaluation, so that short kernels are not lost in the wait for their
  /// command buffer.
  int copies = 1;
};

struct MlxAnswer {
  std::vector<MlxTensor> outputs;  ///< of a first, untimed evaluation; one named "out" of MlxNative
  /// Of each sample, a copy: command buffers, kernels, and the wait.
  std::vector<double> seconds;
};

/// The work once, on the bytes that its inputs bring; then timed.
base::Result<MlxAnswer> run_on_mlx(const MlxWork& work, const MlxTiming& timing = {});

}  // namespace ksearch::target
