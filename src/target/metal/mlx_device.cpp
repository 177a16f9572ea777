// The one file that talks to MLX: tensors become arrays, launches calls of kernels, both evaluated
// and timed. Everything of MLX's is reached through its C++ headers; it throws, we do not.
#include "target/metal/mlx_device.h"

#include <mlx/mlx.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <stdexcept>

namespace ksearch::target {
namespace {
namespace mx = mlx::core;
using kernel::DType;

using Arrays = std::map<std::string, mx::array>;

mx::Dtype dtype_of(DType type) {
  switch (type) {
    case DType::float32:
      return mx::float32;
    case DType::float16:
      return mx::float16;
    case DType::bfloat16:
      return mx::bfloat16;
    case DType::int64:
      return mx::int64;
    case DType::int32:
      return mx::int32;
    case DType::int16:
      return mx::int16;
    case DType::int8:
      return mx::int8;
    case DType::uint64:
      return mx::uint64;
    case DType::uint32:
      return mx::uint32;
    case DType::uint16:
      return mx::uint16;
    case DType::uint8:
      return mx::uint8;
    case DType::boolean:
      return mx::bool_;
    default:
      throw std::invalid_argument("MLX has no " + std::string(kernel::name(type)));
  }
}

/// MLX counts in int.
int whole(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw std::invalid_argument(std::to_string(value) + " is more than MLX counts");
  return static_cast<int>(value);
}

mx::Shape shape_of(const std::vector<std::int64_t>& sizes) {
  mx::Shape shape;
  for (const std::int64_t size : sizes) shape.push_back(whole(size));
  return shape;
}

mx::array array_of(const MlxTensor& tensor, mx::Device device) {
  std::size_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= static_cast<std::size_t>(size);
  const std::size_t size = kernel::size_bytes(tensor.dtype);
  if (tensor.bytes.size() != elements * size)
    throw std::invalid_argument(tensor.name + " has " + std::to_string(tensor.bytes.size()) +
                                " bytes, its shape says " + std::to_string(elements * size));
  const mx::Dtype dtype = dtype_of(tensor.dtype);
  const char* data = tensor.bytes.data();
  // As integers of its size: no value is converted on the way.
  const auto from = [&](auto integer, mx::Dtype as) {
    using Integer = decltype(integer);
    std::vector<Integer> values(elements);
    if (elements > 0) std::memcpy(values.data(), data, tensor.bytes.size());
    return mx::array(values.data(), shape_of(tensor.shape), as);
  };
  const mx::array raw = size == 1   ? from(std::uint8_t{}, mx::uint8)
                        : size == 2 ? from(std::uint16_t{}, mx::uint16)
                        : size == 4 ? from(std::uint32_t{}, mx::uint32)
                                    : from(std::uint64_t{}, mx::uint64);
  return mx::view(raw, dtype, device);
}

MlxTensor tensor_of(const std::string& name, const mx::array& array) {
  MlxTensor tensor{name, DType::float32, {}, {}};
  for (const DType type :
       {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32, DType::int16,
        DType::int8, DType::uint64, DType::uint32, DType::uint16, DType::uint8, DType::boolean})
    if (dtype_of(type) == array.dtype()) tensor.dtype = type;
  for (const auto size : array.shape()) tensor.shape.push_back(size);
  tensor.bytes.assign(array.data<char>(), array.nbytes());
  return tensor;
}

/// As MLX takes it: number, truth value or element type.
mx::fast::TemplateArg argument_of(const MlxLaunch::Argument& argument) {
  if (const auto* type = std::get_if<DType>(&argument)) return dtype_of(*type);
  if (const auto* truth = std::get_if<bool>(&argument)) return *truth;
  return std::get<int>(argument);
}

/// A launch with its kernel, which is built once.
struct Kernel {
  const MlxLaunch* launch = nullptr;
  mx::fast::CustomKernelFunction call;
};

std::vector<Kernel> kernels_of(const std::vector<MlxLaunch>& launches) {
  std::vector<Kernel> kernels;
  for (const MlxLaunch& launch : launches) {
    std::vector<std::string> outputs;
    for (const MlxTensor& output : launch.outputs) outputs.push_back(output.name);
    mx::CompileOptions options;
    if (launch.fast_math) options.math_mode = mx::MathMode::Fast;
    // MLX keeps a library by its name: the name says what the text is.
    const std::size_t text = std::hash<std::string>{}(launch.header + '\0' + launch.source);
    kernels.push_back(
        {&launch, mx::fast::metal_kernel(launch.kernel + "_" + std::to_string(text), launch.inputs,
                                         outputs, launch.source, launch.header, true,
                                         launch.atomic_outputs, options)});
  }
  return kernels;
}

std::tuple<int, int, int> triple(const std::array<std::int64_t, 3>& sizes) {
  return {whole(sizes[0]), whole(sizes[1]), whole(sizes[2])};
}

const mx::array& array_named(const Arrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end())
    throw std::invalid_argument(name + " is neither an input nor written by a launch before");
  return found->second;
}

/// Lazily: nothing runs before it is evaluated.
void add_launch(const Kernel& kernel, mx::Device device, Arrays& arrays) {
  const MlxLaunch& launch = *kernel.launch;
  std::vector<mx::array> inputs;
  for (const std::string& name : launch.inputs) inputs.push_back(array_named(arrays, name));
  std::vector<mx::Shape> shapes;
  std::vector<mx::Dtype> dtypes;
  for (const MlxTensor& output : launch.outputs) {
    shapes.push_back(shape_of(output.shape));
    dtypes.push_back(dtype_of(output.dtype));
  }
  std::vector<std::pair<std::string, mx::fast::TemplateArg>> arguments;
  for (const auto& [name, value] : launch.arguments)
    arguments.emplace_back(name, argument_of(value));
  const std::vector<mx::array> outputs =
      kernel.call(inputs, shapes, dtypes, triple(launch.threads), triple(launch.group_size),
                  arguments, launch.init, false, device);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    arrays.insert_or_assign(launch.outputs[i].name, outputs[i]);
}

mx::array native(const MlxNative& native, const std::vector<mx::array>& in, mx::Device device) {
  const auto expect = [&](std::size_t count) {
    if (in.size() != count)
      throw std::invalid_argument(std::to_string(in.size()) + " inputs, " + std::to_string(count) +
                                  " are meant");
  };
  switch (native.what) {
    case MlxBaseline::attention:
      expect(3);
      return mx::fast::scaled_dot_product_attention(
          in[0], in[1], in[2], native.number, native.causal ? "causal" : "", {}, {}, false, device);
    case MlxBaseline::softmax:
      expect(1);
      return mx::softmax(in[0], -1, /*precise=*/true, device);
    case MlxBaseline::rms_norm:
      break;
  }
  expect(2);
  return mx::fast::rms_norm(in[0], in[1], native.number, device);
}

class Runner {
 public:
  explicit Runner(const MlxWork& work)
      : work_(work), device_(work.place == MlxPlace::gpu ? mx::Device::gpu : mx::Device::cpu) {
    for (const MlxTensor& input : work.inputs) {
      inputs_.push_back(array_of(input, device_));
      named_.insert_or_assign(input.name, inputs_.back());
    }
    if (const auto* launches = std::get_if<std::vector<MlxLaunch>>(&work.what))
      kernels_ = kernels_of(*launches);
    mx::eval(inputs_);
  }

  MlxAnswer run() {
    MlxAnswer answer;
    std::vector<mx::array> first = graph();
    for (mx::array& array : first) array = mx::contiguous(array, false, device_);
    mx::eval(first);
    const bool is_native = std::holds_alternative<MlxNative>(work_.what);
    for (std::size_t i = 0; i < first.size(); ++i)
      answer.outputs.push_back(tensor_of(is_native ? "out" : work_.outputs[i], first[i]));
    if (work_.samples > 0)
      for (int i = 0; i < work_.warm_up; ++i) sample();
    for (int i = 0; i < work_.samples; ++i) answer.seconds.push_back(sample());
    return answer;
  }

 private:
  std::vector<mx::array> graph() const {
    if (const auto* own = std::get_if<MlxNative>(&work_.what))
      return {native(*own, inputs_, device_)};
    Arrays arrays = named_;
    for (const Kernel& kernel : kernels_) add_launch(kernel, device_, arrays);
    std::vector<mx::array> outputs;
    for (const std::string& name : work_.outputs) outputs.push_back(array_named(arrays, name));
    return outputs;
  }

  /// Seconds of a copy.
  double sample() const {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    std::vector<mx::array> all;
    for (int i = 0; i < work_.copies; ++i)
      for (mx::array& output : graph()) all.push_back(std::move(output));
    mx::eval(all);  // waits for the stream
    return std::chrono::duration<double>(Clock::now() - start).count() / work_.copies;
  }

  const MlxWork& work_;
  mx::Device device_;
  std::vector<mx::array> inputs_;
  Arrays named_;
  std::vector<Kernel> kernels_;
};

}  // namespace

MlxState mlx_state() {
  MlxState state{true, mx::version(), mx::metal::is_available(), {}};
  if (!state.has_metal) return state;
  const auto& about = mx::metal::device_info();
  const auto name = about.find("device_name");
  if (name != about.end())
    if (const auto* text = std::get_if<std::string>(&name->second)) state.device = *text;
  return state;
}

base::Result<MlxAnswer> run_on_mlx(const MlxWork& work) {
  if (work.copies < 1) return base::usage_error("copies", "one at least");
  try {
    if (work.place == MlxPlace::gpu && !mx::metal::is_available())
      return base::environment_error(
          "MLX " + std::string(mx::version()), "no Metal device",
          "its kernels run on a Mac's GPU; elsewhere the engine runs them (--target metal)");
    return Runner(work).run();
  } catch (const std::exception& error) {
    return base::usage_error("MLX", error.what());
  }
}

}  // namespace ksearch::target
