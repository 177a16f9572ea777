// Expressions of plans as Python: for exporters that write a launch plan as a Python function.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kernel/expr.h"

namespace ksearch::formats {

/// "mx.float32", "mx.bool_", ...: nothing where MLX has no such dtype.
std::string mlx_dtype(kernel::DType type);

/// A name of the user's, changed where Python or the code around it has the word already.
std::string python_name(std::string_view name);

/// A Python expression with the meaning of `expr`; a dtype becomes MLX's, an absent tensor is None.
/// `device` gives the value of "device.cores" and its like.
std::string to_python(const kernel::Expr& expr,
                      const std::function<std::string(std::string_view)>& device);

}  // namespace ksearch::formats
