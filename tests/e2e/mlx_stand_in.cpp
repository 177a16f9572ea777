// The MLX worker with the dispatch of kernels replaced, for machines without a Metal device: a
// kernel's call is MLX's softmax of its first input on the CPU, or what its name says it should be.
// All else is the real path: arrays, graph, evaluation, times, outputs.
#include <stdexcept>

#include "target/metal/mlx_dispatch.h"
#include "target/metal/mlx_serve.h"

namespace ksearch::target {
namespace {

mx::fast::CustomKernelFunction stand_in(const MlxKernel& kernel, const std::vector<std::string>&,
                                        const std::vector<std::string>&) {
  return [name = kernel.name, empty = kernel.source.starts_with("// Nothing.")](
             const std::vector<mx::array>& inputs, const std::vector<mx::Shape>& shapes,
             const std::vector<mx::Dtype>& dtypes, std::tuple<int, int, int>,
             std::tuple<int, int, int>, std::vector<std::pair<std::string, mx::fast::TemplateArg>>,
             std::optional<float>, bool, mx::StreamOrDevice device) -> std::vector<mx::array> {
    if (empty) return {mx::zeros(shapes[0], dtypes[0], device)};
    if (name == "refused")
      throw std::runtime_error(
          "[metal::Device] Unable to build metal library from source\n"
          "program_source:7:3: error: use of undeclared identifier");
    if (name == "crowded")
      throw std::invalid_argument("Thread group size (1024) is greater than  the maximum allowed");
    mx::array result = mx::softmax(inputs[0], -1, true, device);
    if (name == "wrong") result = mx::multiply(result, mx::array(1.5F, result.dtype()), device);
    if (name == "twice") result = mx::softmax(mx::log(result, device), -1, true, device);
    return {result};
  };
}

}  // namespace
}  // namespace ksearch::target

int main() {
  constexpr ksearch::target::MlxDispatch dispatch{ksearch::target::stand_in};
  return ksearch::target::run_mlx_worker(&dispatch);
}
