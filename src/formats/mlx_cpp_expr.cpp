#include "formats/mlx_cpp_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "formats/expr_python.h"
#include "formats/mlx_export.h"
#include "kernel/names.h"

namespace ksearch::formats {

std::string mlx_cpp_name(std::string_view name) {
  static const std::set<std::string_view> kTaken = {"mx",     "std",       "detail",    "stream",
                                                    "bad",    "fits",      "made",      "kernel",
                                                    "choice", "floor_div", "floor_mod", "ceil_div"};
  const bool taken = kTaken.contains(name) || kernel::is_reserved_word(name);
  return std::string(name) + (taken ? "_" : "");
}

std::string mlx_cpp_dtype(kernel::DType type) {
  const std::string python = mlx_dtype(type);  // "mx.float32"
  return python.empty() ? "" : "mx::" + python.substr(3);
}

std::string mlx_cpp_text(std::string_view text) {
  std::string mark = "msl";
  while (text.find(")" + mark + "\"") != std::string_view::npos) mark += "_";
  return fmt::format("R\"{0}({1}){0}\"", mark, text);
}

MlxCppExpr::MlxCppExpr(const kernel::HardwareProfile& device) {
  names_.value = [&device](std::string_view name) {
    if (!name.starts_with("device.")) return mlx_cpp_name(name);
    const DeviceFigure figure = device_figure(device, name);
    if (!figure.boolean) return std::to_string(figure.value);
    return std::string(figure.value ? "true" : "false");
  };
  names_.type = [](std::string_view) { return std::optional<kernel::DType>(); };
  names_.present = [](std::string_view tensor) { return mlx_cpp_name(tensor) + ".has_value()"; };
  names_.dtype = mlx_cpp_dtype;
}

std::string MlxCppExpr::list(const std::vector<kernel::Expr>& exprs) const {
  std::vector<std::string> parts;
  for (const kernel::Expr& expr : exprs) parts.push_back(code(expr));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace ksearch::formats
