#include "formats/mlx_python_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/expr_python.h"

namespace ksearch::formats {

std::string python_tuple(const std::vector<std::string>& parts) {
  return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
}

MlxPythonExpr::MlxPythonExpr(const MlxExportRequest& request)
    : request_(request), names_(*request.definition, *request.program, python_word) {}

std::string MlxPythonExpr::code(const kernel::Expr& expr) const {
  PythonNames names;
  names.value = [this](std::string_view name) {
    if (!name.starts_with("device.")) return value(name);
    const DeviceFigure figure = device_figure(request_.device, name);
    if (!figure.boolean) return std::to_string(figure.value);
    return std::string(figure.value ? "True" : "False");
  };
  names.present = [this](std::string_view name) {
    return may_be_absent(*request_.definition, name) ? tensor(name) + " is not None"
                                                     : std::string("True");
  };
  return to_python(expr, names);
}

std::string MlxPythonExpr::tuple(const std::vector<kernel::Expr>& exprs) const {
  std::vector<std::string> parts;
  for (const kernel::Expr& expr : exprs) parts.push_back(code(expr));
  return python_tuple(parts);
}

}  // namespace ksearch::formats
