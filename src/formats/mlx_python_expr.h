// What a program of dialect mlx says, as words of Python for MLX. Statements are
// mlx_python_launch.h's, mlx_python_plan.h's and export_mlx_python.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/local_names.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// "(a,)", "(a, b)".
std::string python_tuple(const std::vector<std::string>& parts);

/// Names and expressions of one program; `device.*` are numbers.
class MlxPythonExpr {
 public:
  /// What the request points to is borrowed, and the request.
  explicit MlxPythonExpr(const MlxExportRequest& request);

  std::string code(const kernel::Expr& expr) const;
  std::string tuple(const std::vector<kernel::Expr>& exprs) const;
  const std::string& tensor(std::string_view name) const { return names_.tensor(name); }
  const std::string& value(std::string_view name) const { return names_.value(name); }

 private:
  const MlxExportRequest& request_;
  LocalNames names_;
};

}  // namespace ksearch::formats
