// What a program of dialect mlx says, as words of C++ for MLX: names, element types, expressions,
// texts. Statements are mlx_cpp_launch.h's and export_mlx_cpp.h's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/local_names.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// A local variable for a name of the user's: changed where C++, the code around or, by its form, a
/// macro has the word.
std::string mlx_cpp_word(std::string_view name);

/// Why no function of a header can be called so ("is a word of C++"), or nothing.
std::string_view mlx_cpp_refuses(std::string_view function);

/// "mx::float32"; empty where MLX has no such type.
std::string mlx_cpp_dtype(kernel::DType type);

/// Several lines as one literal, as they stand.
std::string mlx_cpp_text(std::string_view text);

/// Each line of it behind `//`.
std::string mlx_cpp_comment(std::string_view text);

/// Names and expressions of one program; `device.*` are numbers.
class MlxCppExpr {
 public:
  /// What the request points to is borrowed, and the request.
  explicit MlxCppExpr(const MlxExportRequest& request);

  std::string code(const kernel::Expr& expr) const;
  /// "{B, H, 1}".
  std::string list(const std::vector<kernel::Expr>& exprs) const;
  const std::string& tensor(std::string_view name) const { return names_.tensor(name); }
  const std::string& value(std::string_view name) const { return names_.value(name); }

 private:
  const MlxExportRequest& request_;
  LocalNames names_;
};

}  // namespace ksearch::formats
