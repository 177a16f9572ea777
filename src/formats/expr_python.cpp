#include "formats/expr_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "kernel/expr_node.h"

namespace ksearch::formats {
namespace {

using kernel::Op;
using Node = kernel::Expr::Node;

/// Keywords of Python; `__debug__` cannot be assigned to either.
bool is_python_keyword(std::string_view name) {
  static const std::set<std::string_view> kWords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "__debug__"};
  return kWords.contains(name);
}

std::string escaped(std::string_view text, bool in_one_line) {
  std::string code;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (c == '"' || c == '\\')
      code += fmt::format("\\{}", c);
    else if (control && (in_one_line || (c != '\n' && c != '\t')))
      code += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      code += c;
  }
  return code;
}

class PythonWriter {
 public:
  explicit PythonWriter(const PythonNames& names) : names_(names) {}

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
        return names_.value(node.name);
      case Op::present:
        return names_.present(node.name);
      case Op::size_of: {
        const auto known = kernel::parse_dtype(node.name);
        return known ? std::to_string(kernel::size_bytes(*known))
                     : names_.value(node.name) + ".size";
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

  const PythonNames& names_;
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

std::string python_word(std::string_view name) {
  static const std::set<std::string_view> kTaken = {
      "_",        "_expect", "_given", "_kernel", "_macro", "_one_of", "_sizes", "_unwritten",
      "_written", "choices", "int",    "max",     "min",    "mx",      "stream", "ValueError"};
  return std::string(name) + (kTaken.contains(name) || is_python_keyword(name) ? "_" : "");
}

std::string_view python_refuses(std::string_view function) {
  // Builtins that the file or a reference may call.
  static const std::set<std::string_view> kBuiltins = {
      "abs",        "all",   "any",  "bool",     "dict",      "enumerate", "float",  "int",
      "isinstance", "len",   "list", "map",      "max",       "min",       "next",   "pow",
      "print",      "range", "repr", "reversed", "round",     "set",       "sorted", "str",
      "sum",        "tuple", "type", "zip",      "TypeError", "ValueError"};
  static const std::set<std::string_view> kOwn = {"functools", "hashlib", "mlx", "mx", "reference"};
  if (is_python_keyword(function)) return "is a word of Python";
  if (kBuiltins.contains(function)) return "is a builtin of Python that the file may call";
  if (kOwn.contains(function)) return "is a name of the file's own";
  return function.starts_with('_') ? "names with _ in front are the file's own" : "";
}

std::string to_python(const kernel::Expr& expr, const PythonNames& names) {
  return PythonWriter(names).code(expr.root());
}

std::string python_text(std::string_view text) {
  const bool control = std::ranges::any_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
  const bool as_it_is = !control && text.find("\"\"\"") == std::string_view::npos &&
                        !text.ends_with('"') && !text.ends_with('\\');
  if (!as_it_is) return fmt::format("\"\"\"{}\"\"\"", escaped(text, false));
  const bool raw = text.find('\\') != std::string_view::npos;
  return fmt::format("{}\"\"\"{}\"\"\"", raw ? "r" : "", text);
}

std::string line_literal(std::string_view text) {
  return fmt::format("\"{}\"", escaped(text, true));
}

}  // namespace ksearch::formats
