#include "formats/mlx_cpp_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "formats/cpp_names.h"
#include "formats/expr_cpp.h"
#include "formats/expr_python.h"

namespace ksearch::formats {

std::string mlx_cpp_word(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "bad",     "ceil_div", "choice", "detail", "fits", "floor_div", "floor_mod",
      "int64_t", "kernel",   "made",   "mx",     "std",  "stream"};
  return cpp_local(name, kTaken);
}

std::string_view mlx_cpp_refuses(std::string_view function) {
  static const std::set<std::string_view> kOwn = {"detail",    "int32_t", "int64_t", "mx",
                                                  "reference", "size_t",  "std"};
  return cpp_refuses(function, kOwn);
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

std::string mlx_cpp_comment(std::string_view text) {
  std::string code = "// ";
  for (const char c : text) {
    if (c == '\n') {
      if (code.ends_with('\\')) code += '.';  // else the line would go on
      code += "\n// ";
    } else {
      code += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return code + (code.ends_with('\\') ? ".\n" : "\n");
}

MlxCppExpr::MlxCppExpr(const MlxExportRequest& request)
    : request_(request), names_(*request.definition, *request.program, mlx_cpp_word) {}

std::string MlxCppExpr::code(const kernel::Expr& expr) const {
  CodeNames names;
  names.value = [this](std::string_view name) {
    if (!name.starts_with("device.")) return value(name);
    const DeviceFigure figure = device_figure(request_.device, name);
    if (!figure.boolean) return std::to_string(figure.value);
    return std::string(figure.value ? "true" : "false");
  };
  names.type = [](std::string_view) { return std::optional<kernel::DType>(); };
  names.present = [this](std::string_view name) {
    return may_be_absent(*request_.definition, name) ? tensor(name) + ".has_value()"
                                                     : std::string("true");
  };
  names.dtype = mlx_cpp_dtype;
  return to_cpp(expr, names);
}

std::string MlxCppExpr::list(const std::vector<kernel::Expr>& exprs) const {
  std::vector<std::string> parts;
  for (const kernel::Expr& expr : exprs) parts.push_back(code(expr));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace ksearch::formats
