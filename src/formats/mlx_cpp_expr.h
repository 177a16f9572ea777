// What a program of dialect mlx says, as words of C++ for MLX: names, element types, expressions,
// texts. Statements are mlx_cpp_launch.h's and export_mlx_cpp.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/expr_cpp.h"
#include "kernel/hardware.h"
#include "kernel/program.h"

namespace ksearch::formats {

/// A name of the user's, changed where C++ or the code around it has the word already.
std::string mlx_cpp_name(std::string_view name);

/// "mx::float32"; empty where MLX has no such type.
std::string mlx_cpp_dtype(kernel::DType type);

/// Several lines as one literal, as they stand.
std::string mlx_cpp_text(std::string_view text);

/// Expressions of one program; `device.*` are numbers.
class MlxCppExpr {
 public:
  /// `device` is borrowed.
  explicit MlxCppExpr(const kernel::HardwareProfile& device);

  std::string code(const kernel::Expr& expr) const { return to_cpp(expr, names_); }
  /// "{B, H, 1}".
  std::string list(const std::vector<kernel::Expr>& exprs) const;

 private:
  CodeNames names_;
};

}  // namespace ksearch::formats
