#include "formats/expr_python.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"
#include "kernel/expr_node.h"

namespace ksearch::formats {
namespace {

using kernel::Op;
using Node = kernel::Expr::Node;
using DeviceValue = std::function<std::string(std::string_view)>;

class PythonWriter {
 public:
  explicit PythonWriter(const DeviceValue& device) : device_(device) {}

  /// Without parentheses around the whole.
  std::string code(const Node& node) const {
    switch (node.op) {
      case Op::integer:
        return std::to_string(node.integer);
      case Op::boolean:
        return node.integer ? "True" : "False";
      case Op::dtype:
        return mlx_dtype(node.dtype);
      case Op::name:
        return node.name.starts_with("device.") ? device_(node.name) : python_name(node.name);
      case Op::present:
        return fmt::format("{} is not None", python_name(node.name));
      case Op::size_of: {
        const auto known = kernel::parse_dtype(node.name);
        return known ? std::to_string(kernel::size_bytes(*known))
                     : python_name(node.name) + ".size";
      }
      case Op::negate:
        return "-" + inner(node.children[0]);
      case Op::logical_not:
        return "not " + inner(node.children[0]);
      case Op::ceil_div:
        return fmt::format("-(-{} // {})", inner(node.children[0]), inner(node.children[1]));
      case Op::min:
      case Op::max:
        return fmt::format("{}({})", node.op == Op::min ? "min" : "max", list(node));
      case Op::clamp:
        return fmt::format("min(max({}, {}), {})", code(node.children[0]), code(node.children[1]),
                           code(node.children[2]));
      default:
        return fmt::format("{} {} {}", inner(node.children[0]), symbol(node.op),
                           inner(node.children[1]));
    }
  }

 private:
  static std::string_view symbol(Op op) {
    switch (op) {
      case Op::add:
        return "+";
      case Op::subtract:
        return "-";
      case Op::multiply:
        return "*";
      case Op::divide:
        return "//";
      case Op::modulo:
        return "%";
      case Op::equal:
        return "==";
      case Op::not_equal:
        return "!=";
      case Op::less:
        return "<";
      case Op::less_equal:
        return "<=";
      case Op::greater:
        return ">";
      case Op::greater_equal:
        return ">=";
      case Op::logical_and:
        return "and";
      case Op::logical_or:
        return "or";
      default:
        KS_CHECK(false, "no such operator");
        return {};
    }
  }

  std::string list(const Node& node) const {
    std::string text;
    for (const Node& child : node.children) text += (text.empty() ? "" : ", ") + code(child);
    return text;
  }

  std::string inner(const Node& node) const {
    switch (node.op) {
      case Op::integer:
      case Op::boolean:
      case Op::dtype:
      case Op::name:
      case Op::size_of:
      case Op::min:
      case Op::max:
      case Op::clamp:
        return code(node);
      default:
        return "(" + code(node) + ")";
    }
  }

  const DeviceValue& device_;
};

}  // namespace

std::string mlx_dtype(kernel::DType type) {
  using kernel::DType;
  switch (type) {
    case DType::boolean:
      return "mx.bool_";
    case DType::float64:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      return {};
    default:
      return fmt::format("mx.{}", kernel::name(type));
  }
}

std::string python_name(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "bool",
      "float", "int",      "len",   "max",    "min",  "mx",     "range",  "stream",   "choices"};
  return std::string(name) + (kTaken.contains(name) ? "_" : "");
}

std::string to_python(const kernel::Expr& expr, const DeviceValue& device) {
  return PythonWriter(device).code(expr.root());
}

}  // namespace ksearch::formats
