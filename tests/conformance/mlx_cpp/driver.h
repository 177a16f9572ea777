// The program that a test of exports in C++ for MLX builds around them: reads arrays, calls one
// export or its reference, writes arrays. Its main is written by the test: a table of exports.
#pragma once

#include <mlx/mlx.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace driver {

/// By name: tensors of the task, its parameters and axes as arrays of one element.
using Inputs = std::unordered_map<std::string, mlx::core::array>;
using Function = std::function<std::vector<mlx::core::array>(const Inputs&)>;

inline std::optional<mlx::core::array> given(const Inputs& in, const std::string& name) {
  const auto found = in.find(name);
  return found == in.end() ? std::nullopt : std::optional(found->second);
}

template <typename T>
T number(const Inputs& in, const std::string& name) {
  mlx::core::array value = in.at(name);
  return value.item<T>();
}

inline std::vector<mlx::core::array> listed(mlx::core::array one) { return {std::move(one)}; }
inline std::vector<mlx::core::array> listed(std::vector<mlx::core::array> all) { return all; }

/// main of `driver FUNCTION IN.safetensors OUT.safetensors`: outputs are called 0, 1, ... Exit code
/// 3 with the text where the function throws std::invalid_argument, 4 where it throws another.
int main(const std::map<std::string, Function>& functions, int argc, char** argv);

}  // namespace driver
