// Expressions of plans as C++: for exporters that compile a launch plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/expr.h"

namespace ksearch::formats {

/// What names become in the code that is written.
struct CodeNames {
  /// A value: "B" -> "p.B"; types are asked for through `type`.
  std::function<std::string(std::string_view name)> value;
  /// The element type that a type variable stands for, where it is one.
  std::function<std::optional<kernel::DType>(std::string_view name)> type;
  /// Whether an optional tensor is given: "p.has_z".
  std::function<std::string(std::string_view tensor)> present;
  /// Where element types are values when the code runs: "float32" -> "mx::float32". Type variables
  /// then have a value, and `.size()` bytes.
  std::function<std::string(kernel::DType type)> dtype = nullptr;
  /// Only operators that `#if` knows; divisions then round towards zero, for what is never
  /// negative.
  bool preprocessor = false;
};

/// A C++ expression of type int64_t, bool or float, with the meaning of `expr`. Divisions call
/// floor_div, floor_mod and ceil_div with a trailing `bad` (cpp_runtime.h), which is set where
/// ksearch would have refused.
std::string to_cpp(const kernel::Expr& expr, const CodeNames& names);

}  // namespace ksearch::formats
