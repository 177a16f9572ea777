#include "formats/expr_cpp.h"

#include <fmt/format.h>

#include "base/check.h"
#include "kernel/expr_node.h"

namespace ksearch::formats {
namespace {

using kernel::DType;
using kernel::Op;
using Node = kernel::Expr::Node;

class Writer {
 public:
  explicit Writer(const CodeNames& names) : names_(names) {}

  /// Without parentheses around the whole; `inner` adds them where an operator stands outside.
  std::string code(const Node& node) {
    switch (node.op) {
      case Op::integer:
        return std::to_string(node.integer);
      case Op::boolean:
        return names_.preprocessor ? (node.integer ? "1" : "0") : (node.integer ? "true" : "false");
      case Op::dtype:
        if (names_.dtype) return names_.dtype(node.dtype);
        KS_CHECK(false, "an element type stands only beside == and in sizeof");
        return {};
      case Op::name:
        return names_.value(node.name);
      case Op::present:
        return names_.present(node.name);
      case Op::size_of:
        if (names_.dtype && !type_of(node))
          return fmt::format("int64_t{{{}.size()}}", names_.value(node.name));
        return std::to_string(kernel::size_bytes(type_of(node).value_or(DType::float32)));
      case Op::negate:
        return "-" + inner(node.children[0]);
      case Op::logical_not:
        return "!" + inner(node.children[0]);
      case Op::equal:
      case Op::not_equal:
        return equality(node);
      case Op::min:
      case Op::max:
        return extreme(node);
      case Op::clamp:
        return fmt::format("std::min<int64_t>(std::max<int64_t>({}, {}), {})",
                           code(node.children[0]), code(node.children[1]), code(node.children[2]));
      case Op::divide:
      case Op::modulo:
      case Op::ceil_div:
        return division(node);
      default:
        return fmt::format("{} {} {}", wide(node), symbol(node.op), inner(node.children[1]));
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
      case Op::less:
        return "<";
      case Op::less_equal:
        return "<=";
      case Op::greater:
        return ">";
      case Op::greater_equal:
        return ">=";
      case Op::logical_and:
        return "&&";
      case Op::logical_or:
        return "||";
      default:
        KS_CHECK(false, "no such operator");
        return {};
    }
  }

  /// The left operand; of two literals it gets the type, since ints overflow early.
  std::string wide(const Node& node) {
    const Node& left = node.children[0];
    const bool literals = left.op == Op::integer && node.children[1].op == Op::integer;
    return literals && !names_.preprocessor ? fmt::format("int64_t{{{}}}", left.integer)
                                            : inner(left);
  }

  std::string inner(const Node& node) {
    const bool leaf = node.op == Op::dtype || node.op == Op::integer || node.op == Op::boolean ||
                      node.op == Op::name || node.op == Op::present || node.op == Op::size_of;
    const bool call = !names_.preprocessor &&
                      (node.op == Op::divide || node.op == Op::modulo || node.op == Op::ceil_div ||
                       node.op == Op::min || node.op == Op::max || node.op == Op::clamp);
    return leaf || call ? code(node) : "(" + code(node) + ")";
  }

  std::optional<DType> type_of(const Node& node) {
    if (node.op == Op::dtype) return node.dtype;
    if (node.op == Op::size_of)
      if (const auto known = kernel::parse_dtype(node.name)) return known;
    if (node.op == Op::name || node.op == Op::size_of) return names_.type(node.name);
    return std::nullopt;
  }

  std::string equality(const Node& node) {
    const auto a = type_of(node.children[0]);
    const auto b = type_of(node.children[1]);
    if (a && b) return (a == b) == (node.op == Op::equal) ? "true" : "false";
    return fmt::format("{} {} {}", inner(node.children[0]),
                       node.op == Op::equal ? "==" : "!=", inner(node.children[1]));
  }

  std::string extreme(const Node& node) {
    std::string list;
    for (const Node& child : node.children) list += (list.empty() ? "" : ", ") + code(child);
    return fmt::format("std::{}<int64_t>({{{}}})", node.op == Op::min ? "min" : "max", list);
  }

  std::string division(const Node& node) {
    const std::string a = names_.preprocessor ? inner(node.children[0]) : code(node.children[0]);
    const std::string b = names_.preprocessor ? inner(node.children[1]) : code(node.children[1]);
    if (names_.preprocessor) {
      if (node.op == Op::ceil_div) return fmt::format("({} + {} - 1) / {}", a, b, b);
      return fmt::format("{} {} {}", a, node.op == Op::divide ? '/' : '%', b);
    }
    const char* function = node.op == Op::divide   ? "floor_div"
                           : node.op == Op::modulo ? "floor_mod"
                                                   : "ceil_div";
    return fmt::format("{}({}, {}, bad)", function, a, b);
  }

  const CodeNames& names_;
};

}  // namespace

std::string to_cpp(const kernel::Expr& expr, const CodeNames& names) {
  return Writer(names).code(expr.root());
}

}  // namespace ksearch::formats
