// Tunables by shape in C++ for MLX: what a program's `select`, `let` and constraints become.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/mlx_cpp_expr.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// Statements that declare and set every tunable and every name of `let`, or throw where no choice
/// meets the plan's constraints: what was selected for the shape, then what fits some workload.
/// `function` is for the message.
base::Result<std::string> mlx_cpp_plan(const MlxExportRequest& request, const MlxCppExpr& expr,
                                       const std::string& function);

}  // namespace ksearch::formats
