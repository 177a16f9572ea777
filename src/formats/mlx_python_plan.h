// Tunables by shape in Python for MLX: what a program's `select`, `let` and constraints become.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"
#include "formats/mlx_python_expr.h"

namespace ksearch::formats {

/// Statements that set every tunable and every name of `let`, or raise where no choice meets the
/// plan's constraints: what was selected for the shape, then what fits some workload. `function` is
/// for the message.
base::Result<std::string> mlx_python_plan(const MlxExportRequest& request,
                                          const MlxPythonExpr& expr, const std::string& function);

}  // namespace ksearch::formats
