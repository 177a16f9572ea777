// Arrays that a test and its driver exchange, and the format in which they do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/dtype.h"
#include "kernel/expr.h"

namespace ksearch::formats {

struct NamedArray {
  std::string name;
  kernel::DType dtype = kernel::DType::float32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// An array of one element: a parameter, an axis.
inline NamedArray scalar(const std::string& name, const kernel::Value& value) {
  NamedArray array{name, kernel::DType::int64, {1}, {}};
  const auto put = [&](auto number) {
    array.bytes.assign(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (const auto* real = std::get_if<double>(&value)) {
    array.dtype = kernel::DType::float32;
    put(static_cast<float>(*real));
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    array.dtype = kernel::DType::boolean;
    put(static_cast<std::uint8_t>(*truth));
  } else {
    put(std::get<std::int64_t>(value));
  }
  return array;
}

/// Zeros.
inline NamedArray floats(const std::string& name, std::vector<std::int64_t> shape) {
  std::size_t count = 4;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  return {name, kernel::DType::float32, std::move(shape), std::string(count, '\0')};
}

inline std::string safetensors(const std::vector<NamedArray>& arrays) {
  const std::map<kernel::DType, const char*> names = {
      {kernel::DType::float32, "F32"},   {kernel::DType::float16, "F16"},
      {kernel::DType::bfloat16, "BF16"}, {kernel::DType::int32, "I32"},
      {kernel::DType::int64, "I64"},     {kernel::DType::boolean, "BOOL"}};
  base::Json head = base::Json::object();
  std::string data;
  for (const NamedArray& array : arrays) {
    const std::size_t begin = data.size();
    data += array.bytes;
    head[array.name] = {{"dtype", names.at(array.dtype)},
                        {"shape", array.shape},
                        {"data_offsets", {begin, data.size()}}};
  }
  std::string text = head.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string size;
  for (std::size_t i = 0; i < 8; ++i) size += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return size + text + data;
}

/// Bytes of each array by name.
inline std::map<std::string, std::string> read_safetensors(const std::string& file) {
  std::map<std::string, std::string> arrays;
  if (file.size() < 8) return arrays;
  std::size_t size = 0;
  for (std::size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(file[i]);
  const auto head = base::parse_json(file.substr(8, size), "safetensors");
  if (!head) return arrays;
  for (const auto& [name, array] : head->items()) {
    if (name == "__metadata__") continue;
    const auto begin = array["data_offsets"][0].get<std::size_t>();
    const auto end = array["data_offsets"][1].get<std::size_t>();
    arrays[name] = file.substr(8 + size + begin, end - begin);
  }
  return arrays;
}

}  // namespace ksearch::formats
