// The expression language of definitions and plans: integers and booleans over named values.
//
//   expr  := or ; or := and ("or" and)* ; and := not ("and" not)* ; not := "not" not | cmp
//   cmp   := sum (("==" | "!=" | "<" | "<=" | ">" | ">=") sum)?
//   sum   := term (("+" | "-") term)* ; term := unary (("*" | "/" | "%") unary)*
//   unary := "-" unary | NUMBER | "true" | "false" | NAME | "device." NAME | CALL | "(" expr ")"
//   CALL  := ceildiv(a,b) | min(..) | max(..) | clamp(x,low,high) | sizeof(TYPE) | has(TENSOR)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/dtype.h"

namespace ksearch::kernel {

/// A float appears only as a parameter that stands alone.
using Value = std::variant<std::int64_t, bool, double, DType>;

std::string to_text(const Value& value);

/// What names mean. An inner scope sees the outer one's names.
class Scope {
 public:
  Scope() = default;
  explicit Scope(const Scope* outer) : outer_(outer) {}

  void set(std::string name, Value value) { values_[std::move(name)] = value; }
  void set_present(std::string tensor, bool present) { present_[std::move(tensor)] = present; }
  const Value* find(std::string_view name) const;
  /// Whether an optional tensor is there; null for a name that is no tensor.
  const bool* find_present(std::string_view tensor) const;

 private:
  const Scope* outer_ = nullptr;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, bool, std::less<>> present_;
};

/// A parsed expression: an immutable value, cheap to copy.
class Expr {
 public:
  struct Node;

  /// `where` names the place in errors. At most 64 levels deep, 4096 characters.
  static base::Result<Expr> parse(std::string_view text, std::string_view where);
  static Expr constant(std::int64_t value);

  /// Integers: `/` and `%` round down; overflow and division by zero are errors, as is a name that
  /// `scope` lacks. A boolean counts as 0 or 1 in arithmetic.
  base::Result<Value> eval(const Scope& scope) const;
  base::Result<std::int64_t> eval_integer(const Scope& scope) const;
  base::Result<bool> eval_boolean(const Scope& scope) const;
  /// An integer, a boolean or a lone float parameter, as a double.
  base::Result<double> eval_number(const Scope& scope) const;

  /// Every name that stands for a value ("L", "device.cores"), and every tensor in has().
  const std::set<std::string>& names() const;
  const std::set<std::string>& tensors() const;
  const std::string& text() const;
  /// Its parsed form (expr_node.h).
  const Node& root() const;
  friend bool operator==(const Expr& a, const Expr& b) { return a.text() == b.text(); }

 private:
  struct Parsed;
  explicit Expr(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
  // Shared because a parsed expression never changes and definitions are copied into requests.
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace ksearch::kernel
