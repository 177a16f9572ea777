#include "formats/mlx_cpp_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "formats/expr_cpp.h"
#include "formats/expr_python.h"
#include "kernel/names.h"

namespace ksearch::formats {

namespace {

/// By custom a macro's: EOF, NAN, M_PIl, SYS_read.
bool looks_like_macro(std::string_view name) {
  const std::string_view head = name.substr(0, name.find('_'));
  const bool capitals = std::ranges::all_of(
      head, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
  return capitals && !head.empty() && (head.size() > 2 || head.size() < name.size());
}

/// Macros of the system's headers that do not look like one, some of them only with GNU extensions.
bool is_macro(std::string_view name) {
  static const std::set<std::string_view> kMacros = {"alloca", "assert",  "errno",  "linux",
                                                     "major",  "makedev", "minor",  "offsetof",
                                                     "stderr", "stdin",   "stdout", "unix"};
  return kMacros.contains(name) || looks_like_macro(name);
}

}  // namespace

std::string mlx_cpp_word(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "bad",     "ceil_div", "choice", "detail", "fits", "floor_div", "floor_mod",
      "int64_t", "kernel",   "made",   "mx",     "std",  "stream"};
  if (name.starts_with('_')) return fmt::format("n{}", name);  // the system's
  const bool taken = kTaken.contains(name) || kernel::is_reserved_word(name) || is_macro(name);
  return std::string(name) + (taken ? "_" : "");
}

std::string_view mlx_cpp_refuses(std::string_view function) {
  static const std::set<std::string_view> kOwn = {"detail",    "int32_t", "int64_t", "mx",
                                                  "reference", "size_t",  "std"};
  if (kernel::is_reserved_word(function)) return "is a word of C++";
  if (kOwn.contains(function)) return "is a name of the file's own";
  if (is_macro(function)) return "is, or may be, a macro of the system's headers";
  return function.starts_with('_') ? "names with _ in front are the system's in C++" : "";
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
