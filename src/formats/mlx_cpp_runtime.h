// What an export in C++ for MLX stands on. Its text goes into every such header, into namespace
// `detail` of the function's own, where `mx` is mlx::core.
#pragma once

#include <mlx/mlx.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// begin
inline int64_t floor_div(int64_t a, int64_t b, bool& bad) {
  bad |= b == 0;
  return b == 0 ? 0 : a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
inline int64_t floor_mod(int64_t a, int64_t b, bool& bad) { return a - floor_div(a, b, bad) * b; }
inline int64_t ceil_div(int64_t a, int64_t b, bool& bad) { return -floor_div(-a, b, bad); }

// MLX counts in int.
inline int whole(int64_t value) {
  if (value < 0 || value > std::numeric_limits<int>::max())
    throw std::invalid_argument(std::to_string(value) + " is no size that MLX takes");
  return static_cast<int>(value);
}

inline mx::Shape shape(const std::vector<int64_t>& sizes) {
  mx::Shape result;
  for (const int64_t size : sizes) result.push_back(whole(size));
  return result;
}

inline std::string text_of(const mx::Shape& shape) {
  std::string text;
  for (const auto size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

inline std::string text_of(mx::Dtype type) {
  std::ostringstream text;
  text << type;
  return text.str();
}

inline int64_t size(const char* name, const mx::array& array, size_t dimensions, int axis) {
  if (array.ndim() != dimensions)
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(array.ndim()) +
                                " dimensions, " + std::to_string(dimensions) + " are meant");
  return array.shape(axis);
}

inline mx::Dtype one_of(const char* name, const mx::array& array,
                        const std::vector<mx::Dtype>& types) {
  std::string all;
  for (const mx::Dtype type : types) {
    if (array.dtype() == type) return type;
    all += (all.empty() ? "" : ", ") + text_of(type);
  }
  throw std::invalid_argument(std::string(name) + " is " + text_of(array.dtype()) + "; " + all +
                              " will do");
}

inline void expect(const char* name, const mx::array& array, const std::vector<int64_t>& sizes,
                   mx::Dtype type) {
  if (array.shape() != shape(sizes))
    throw std::invalid_argument(std::string(name) + " has shape " + text_of(array.shape()) + ", " +
                                text_of(shape(sizes)) + " is meant");
  if (array.dtype() != type)
    throw std::invalid_argument(std::string(name) + " is " + text_of(array.dtype()) + ", " +
                                text_of(type) + " is meant");
}

// Tensors that are not there for all sizes.
inline const mx::array& given(const char* name, const std::optional<mx::array>& array) {
  if (!array)
    throw std::invalid_argument(std::string(name) +
                                " is not given, and the plan reads it for these sizes");
  return *array;
}
inline const mx::array& written(const char* name, const std::optional<mx::array>& array) {
  if (!array)
    throw std::invalid_argument(std::string("no launch of the plan writes ") + name +
                                " for these sizes");
  return *array;
}
inline void unwritten(const char* name, const std::optional<mx::array>& array) {
  if (array)
    throw std::invalid_argument(std::string("two launches of the plan write ") + name +
                                " for these sizes");
}

// Numbers that a size is made of: the array is evaluated.
inline std::vector<int64_t> values(const mx::array& array, mx::StreamOrDevice stream) {
  mx::array wide = mx::contiguous(mx::astype(array, mx::int64, stream), false, stream);
  wide.eval();
  return {wide.data<int64_t>(), wide.data<int64_t>() + wide.size()};
}
inline int64_t last_of(const std::vector<int64_t>& list) { return list.empty() ? 0 : list.back(); }
inline int64_t sum_of(const std::vector<int64_t>& list) {
  int64_t sum = 0;
  for (const int64_t value : list) sum += value;
  return sum;
}
inline int64_t max_diff_of(const std::vector<int64_t>& list) {
  int64_t most = 0;
  for (size_t i = 1; i < list.size(); ++i) most = std::max(most, list[i] - list[i - 1]);
  return most;
}

// A template argument keeps its kind: a type, bool, or int.
inline mx::fast::TemplateArg argument(mx::Dtype value) { return value; }
inline mx::fast::TemplateArg argument(bool value) { return value; }
inline mx::fast::TemplateArg argument(int64_t value) { return static_cast<int>(value); }
inline mx::fast::TemplateArg argument(int value) { return value; }

// What a macro stands for in Metal.
inline std::string word(int64_t value) { return std::to_string(value); }
inline std::string word(mx::Dtype type) {
  if (type == mx::float32) return "float";
  if (type == mx::float16) return "half";
  if (type == mx::bfloat16) return "bfloat16_t";
  if (type == mx::bool_) return "bool";
  return type == mx::int32 ? "int" : "uint";
}

// A kernel's text, and what MLX built of it: once for each set of macros. MLX keeps a Metal library
// by its name, so the name says what the text is: the hash of header, body and arguments' names,
// the macros' values.
class Kernel {
 public:
  Kernel(const char* name, const char* hash, std::vector<std::string> inputs,
         std::vector<std::string> outputs, const char* header, const char* body, bool atomic)
      : name_(std::string(name) + "_" + hash),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        header_(header),
        body_(body),
        atomic_(atomic) {}

  // Thread-safe; what it returns stays.
  const mx::fast::CustomKernelFunction& with(
      const std::vector<std::pair<const char*, std::string>>& macros) {
    std::string name = name_;
    for (const auto& [macro, value] : macros)
      name += value[0] == '-' ? "_m" + value.substr(1) : "_" + value;
    const std::lock_guard lock(mutex_);
    const auto found = built_.find(name);
    if (found != built_.end()) return found->second;
    std::string header;
    for (const auto& [macro, value] : macros)
      header += std::string("#define ") + macro + " " + value + "\n";
    const bool ensure_row_contiguous = true;
    return built_
        .emplace(name, mx::fast::metal_kernel(name, inputs_, outputs_, body_, header + header_,
                                              ensure_row_contiguous, atomic_))
        .first->second;
  }

 private:
  const std::string name_;
  const std::vector<std::string> inputs_, outputs_;
  const std::string header_, body_;
  const bool atomic_;
  std::mutex mutex_;
  std::map<std::string, mx::fast::CustomKernelFunction> built_;
};
