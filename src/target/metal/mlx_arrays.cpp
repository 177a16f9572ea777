#include "target/metal/mlx_arrays.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace ksearch::target {
namespace {
using kernel::DType;

/// MLX counts in int.
int whole(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw std::invalid_argument(std::to_string(value) + " is more than MLX counts");
  return static_cast<int>(value);
}

std::size_t elements_of(const MlxTensor& tensor) {
  std::size_t elements = 1;
  for (const std::int64_t size : tensor.shape) elements *= static_cast<std::size_t>(size);
  return elements;
}

}  // namespace

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

mx::Shape shape_of(const std::vector<std::int64_t>& sizes) {
  mx::Shape shape;
  for (const std::int64_t size : sizes) shape.push_back(whole(size));
  return shape;
}

mx::array array_of(const MlxTensor& tensor, std::span<const std::byte> bytes, mx::Device device) {
  const std::size_t size = kernel::size_bytes(tensor.dtype);
  if (bytes.size() != elements_of(tensor) * size)
    throw std::invalid_argument(tensor.name + " has " + std::to_string(bytes.size()) +
                                " bytes, its shape says " +
                                std::to_string(elements_of(tensor) * size));
  const mx::Dtype dtype = dtype_of(tensor.dtype);
  // As integers of its size: no value is converted on the way.
  const auto from = [&](auto integer, mx::Dtype as) {
    return mx::array(reinterpret_cast<const decltype(integer)*>(bytes.data()),
                     shape_of(tensor.shape), as);
  };
  const mx::array raw = size == 1   ? from(std::uint8_t{}, mx::uint8)
                        : size == 2 ? from(std::uint16_t{}, mx::uint16)
                        : size == 4 ? from(std::uint32_t{}, mx::uint32)
                                    : from(std::uint64_t{}, mx::uint64);
  return mx::view(raw, dtype, device);
}

mx::array number_of(const MlxTensor& number, mx::Device device) {
  std::array<std::byte, 8> aligned{};
  std::memcpy(aligned.data(), number.bytes.data(), std::min(number.bytes.size(), aligned.size()));
  return array_of(number, std::span(aligned).first(number.bytes.size()), device);
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

mx::fast::TemplateArg argument_of(const MlxLaunch::Argument& argument) {
  if (const auto* type = std::get_if<DType>(&argument)) return dtype_of(*type);
  if (const auto* truth = std::get_if<bool>(&argument)) return *truth;
  return std::get<int>(argument);
}

std::tuple<int, int, int> triple(const std::array<std::int64_t, 3>& sizes) {
  return {whole(sizes[0]), whole(sizes[1]), whole(sizes[2])};
}

}  // namespace ksearch::target
