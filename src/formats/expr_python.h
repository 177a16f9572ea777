// Expressions, names and texts as Python: for exporters that write a launch plan as a function.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kernel/expr.h"

namespace ksearch::formats {

/// "mx.float32", "mx.bool_", ...: nothing where MLX has no such dtype.
std::string mlx_dtype(kernel::DType type);

/// A local variable for a name of the user's: changed where Python or the code around has the word.
std::string python_word(std::string_view name);

/// Why no function of a file can be called so ("is a word of Python"), or nothing.
std::string_view python_refuses(std::string_view function);

/// What names become in the code that is written.
struct PythonNames {
  /// A value: "len" -> "len_", "device.cores" -> "32".
  std::function<std::string(std::string_view name)> value;
  /// Whether an optional tensor is given: "z is not None".
  std::function<std::string(std::string_view tensor)> present;
};

/// A Python expression with the meaning of `expr`; a dtype becomes MLX's.
std::string to_python(const kernel::Expr& expr, const PythonNames& names);

/// A literal, in several lines as the text is.
std::string python_text(std::string_view text);

/// A literal in one line; C++ has the same.
std::string line_literal(std::string_view text);

}  // namespace ksearch::formats
