#include "target/metal/mlx_dispatch.h"

#include <stdexcept>

#include "target/metal/mlx_device.h"

namespace ksearch::target {
namespace {

mx::fast::CustomKernelFunction metal_kernel(const MlxKernel& kernel,
                                            const std::vector<std::string>& inputs,
                                            const std::vector<std::string>& outputs) {
  mx::CompileOptions options;
  if (kernel.fast_math) options.math_mode = mx::MathMode::Fast;
  // MLX keeps a library by its name: the name says what the text is.
  std::string text = kernel.header + '\0' + kernel.source;
  for (const auto* names : {&inputs, &outputs})
    for (const std::string& name : *names) text += '\0' + name;
  const std::size_t hash = std::hash<std::string>{}(text);
  return mx::fast::metal_kernel(kernel.name + "_" + std::to_string(hash), inputs, outputs,
                                kernel.source, kernel.header, true, kernel.atomic_outputs, options);
}

}  // namespace

const MlxDispatch kMetalDispatch{metal_kernel};

MlxState mlx_state() {
  MlxState state{true, mx::version(), mx::metal::is_available(), {}};
  if (!state.has_metal) return state;
  const auto& about = mx::metal::device_info();
  const auto text = [&](const char* key) {
    const auto found = about.find(key);
    const auto* value = found == about.end() ? nullptr : std::get_if<std::string>(&found->second);
    return value ? *value : std::string();
  };
  state.device = text("device_name");
  state.architecture = text("architecture");
  return state;
}

mx::array call_native(const MlxNative& native, const std::vector<mx::array>& in,
                      mx::Device device) {
  const auto expect = [&](std::size_t count) {
    if (in.size() != count)
      throw std::invalid_argument(std::to_string(in.size()) + " inputs, " + std::to_string(count) +
                                  " are meant");
  };
  switch (native.what) {
    case MlxOperation::attention:
      expect(3);
      return mx::fast::scaled_dot_product_attention(
          in[0], in[1], in[2], native.number, native.causal ? "causal" : "", {}, {}, false, device);
    case MlxOperation::matmul:
      expect(2);
      return mx::matmul(in[0], in[1], device);
    case MlxOperation::softmax:
      expect(1);
      return mx::softmax(in[0], -1, /*precise=*/true, device);
    case MlxOperation::rms_norm:
      break;
  }
  expect(2);
  return mx::fast::rms_norm(in[0], in[1], native.number, device);
}

}  // namespace ksearch::target
