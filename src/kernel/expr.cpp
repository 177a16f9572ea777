#include "kernel/expr.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "kernel/expr_node.h"

namespace ksearch::kernel {

struct Expr::Parsed {
  std::string text;
  Node root;
  std::set<std::string> names;
  std::set<std::string> tensors;
};

namespace {

using Node = Expr::Node;
constexpr std::size_t kMaxText = 4096;
constexpr int kMaxDepth = 64;

struct Token {
  enum Kind { end, number, word, symbol } kind = end;
  std::string_view text;
  std::size_t at = 0;
};

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Recursive descent over the grammar in the header. The first fault stops it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  std::optional<Node> parse() {
    Node node = parse_or();
    if (ok() && token_.kind != Token::end) fail(fmt::format("\"{}\" is left over", token_.text));
    if (!ok()) return std::nullopt;
    return node;
  }
  const std::string& fault() const { return fault_; }
  std::set<std::string> names;
  std::set<std::string> tensors;

 private:
  bool ok() const { return fault_.empty(); }
  void fail(std::string what) {
    if (ok()) fault_ = fmt::format("{} at column {} of \"{}\"", what, token_.at + 1, text_);
  }

  void advance() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\t' ||
                                    text_[next_] == '\n' || text_[next_] == '\r'))
      ++next_;
    token_ = Token{Token::end, {}, next_};
    if (next_ == text_.size()) return;
    const std::size_t start = next_;
    const char c = text_[next_];
    if (is_digit(c)) {
      while (next_ < text_.size() &&
             (is_digit(text_[next_]) || is_word_start(text_[next_]) || text_[next_] == '.'))
        ++next_;
      token_.kind = Token::number;
    } else if (is_word_start(c)) {
      // "device.cores" is one word: a full stop joins words.
      while (next_ < text_.size() &&
             (is_word_start(text_[next_]) || is_digit(text_[next_]) || text_[next_] == '.'))
        ++next_;
      token_.kind = Token::word;
    } else {
      static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">="};
      next_ += 1;
      for (const auto two : kTwo)
        if (text_.substr(start, 2) == two) next_ = start + 2;
      token_.kind = Token::symbol;
    }
    token_.text = text_.substr(start, next_ - start);
  }

  bool take(std::string_view text) {
    if (token_.kind == Token::end || token_.kind == Token::number || token_.text != text)
      return false;
    advance();
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) fail(fmt::format("\"{}\" is wanted", text));
  }

  static Node binary(Op op, Node left, Node right) {
    Node node;
    node.op = op;
    node.children.push_back(std::move(left));
    node.children.push_back(std::move(right));
    return node;
  }

  Node parse_or() {
    if (++depth_ > kMaxDepth) {
      fail("nested too deep");
      return {};
    }
    Node left = parse_and();
    while (ok() && take("or")) left = binary(Op::logical_or, std::move(left), parse_and());
    --depth_;
    return left;
  }

  Node parse_and() {
    Node left = parse_not();
    while (ok() && take("and")) left = binary(Op::logical_and, std::move(left), parse_not());
    return left;
  }

  Node parse_not() {
    int nots = 0;
    while (ok() && take("not")) ++nots;
    Node node = parse_comparison();
    if (nots == 0) return node;
    // Two cancel out, but still want a boolean, so one pair is kept.
    for (int i = 0; i < (nots % 2 == 1 ? 1 : 2); ++i)
      node = unary(Op::logical_not, std::move(node));
    return node;
  }

  static Node unary(Op op, Node child) {
    Node node;
    node.op = op;
    node.children.push_back(std::move(child));
    return node;
  }

  Node parse_comparison() {
    Node left = parse_sum();
    static constexpr std::pair<std::string_view, Op> kOps[] = {
        {"==", Op::equal},      {"!=", Op::not_equal}, {"<", Op::less},
        {"<=", Op::less_equal}, {">", Op::greater},    {">=", Op::greater_equal}};
    for (const auto& [text, op] : kOps)
      if (ok() && take(text)) return binary(op, std::move(left), parse_sum());
    return left;
  }

  Node parse_sum() {
    Node left = parse_term();
    while (ok()) {
      if (take("+"))
        left = chain(binary(Op::add, std::move(left), parse_term()));
      else if (take("-"))
        left = chain(binary(Op::subtract, std::move(left), parse_term()));
      else
        break;
    }
    return left;
  }

  Node parse_term() {
    Node left = parse_unary();
    while (ok()) {
      if (take("*"))
        left = chain(binary(Op::multiply, std::move(left), parse_unary()));
      else if (take("/"))
        left = chain(binary(Op::divide, std::move(left), parse_unary()));
      else if (take("%"))
        left = chain(binary(Op::modulo, std::move(left), parse_unary()));
      else
        break;
    }
    return left;
  }

  /// A long chain "1+1+1..." leans left without parentheses: bounded, since eval recurses.
  Node chain(Node node) {
    if (++operators_ > 512) fail("more than 512 operators");
    return node;
  }

  Node parse_unary() {
    int signs = 0;
    while (ok() && take("-")) ++signs;
    Node node = parse_primary();
    return signs % 2 == 1 ? unary(Op::negate, std::move(node)) : node;
  }

  Node parse_primary() {
    Node node;
    if (token_.kind == Token::number) {
      const auto [end, error] = std::from_chars(
          token_.text.data(), token_.text.data() + token_.text.size(), node.integer);
      if (error != std::errc{} || end != token_.text.data() + token_.text.size())
        fail(fmt::format("\"{}\" is no integer that fits", token_.text));
      advance();
      return node;
    }
    if (token_.kind == Token::word) return parse_word();
    if (take("(")) {
      node = parse_or();
      expect(")");
      return node;
    }
    fail(token_.kind == Token::end ? "something is missing"
                                   : fmt::format("\"{}\" is not expected", token_.text));
    return node;
  }

  Node parse_word() {
    static constexpr std::string_view kReserved[] = {"and", "or", "not"};
    Node node;
    const std::string word(token_.text);
    for (const auto r : kReserved)
      if (word == r) {
        fail(fmt::format("\"{}\" is not expected", word));
        return node;
      }
    advance();
    if (word == "true" || word == "false") {
      node.op = Op::boolean;
      node.integer = word == "true";
      return node;
    }
    if (token_.kind == Token::symbol && token_.text == "(") return parse_call(word);
    if (const auto type = parse_dtype(word)) {
      node.op = Op::dtype;
      node.dtype = *type;
      return node;
    }
    node.op = Op::name;
    node.name = word;
    names.insert(word);
    return node;
  }

  Node parse_call(const std::string& function) {
    Node node;
    advance();  // "("
    if (function == "has" || function == "sizeof") {
      node.op = function == "has" ? Op::present : Op::size_of;
      node.name = std::string(token_.text);
      if (token_.kind != Token::word) fail("a name is wanted");
      advance();
      if (node.op == Op::present)
        tensors.insert(node.name);
      else if (!parse_dtype(node.name))
        names.insert(node.name);
      expect(")");
      return node;
    }
    do node.children.push_back(parse_or());
    while (ok() && take(","));
    expect(")");
    struct Function {
      std::string_view name;
      Op op;
      std::size_t least, most;
    };
    static constexpr Function kFunctions[] = {{"ceildiv", Op::ceil_div, 2, 2},
                                              {"min", Op::min, 1, 16},
                                              {"max", Op::max, 1, 16},
                                              {"clamp", Op::clamp, 3, 3}};
    for (const auto& f : kFunctions) {
      if (f.name != function) continue;
      node.op = f.op;
      if (node.children.size() < f.least || node.children.size() > f.most)
        fail(fmt::format("{} takes {} arguments", function,
                         f.least == f.most ? std::to_string(f.least) : "1 to 16"));
      return node;
    }
    fail(fmt::format("\"{}\" is no function; there are ceildiv, min, max, clamp, sizeof, has",
                     function));
    return node;
  }

  std::string_view text_;
  std::size_t next_ = 0;
  int depth_ = 0;
  int operators_ = 0;
  Token token_;
  std::string fault_;
};

using Int = std::int64_t;

std::optional<Int> floor_div(Int a, Int b) {
  if (b == 0 || (a == std::numeric_limits<Int>::min() && b == -1)) return std::nullopt;
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Evaluates one tree; the first fault stays.
class Evaluation {
 public:
  explicit Evaluation(const Scope& scope) : scope_(scope) {}
  std::string fault;

  Value value(const Node& node) {
    switch (node.op) {
      case Op::integer:
        return node.integer;
      case Op::boolean:
        return node.integer != 0;
      case Op::dtype:
        return node.dtype;
      case Op::name:
        return lookup(node.name);
      case Op::present: {
        const bool* present = scope_.find_present(node.name);
        if (!present) fail(fmt::format("\"{}\" is no tensor", node.name));
        return present && *present;
      }
      case Op::size_of:
        return size_of(node.name);
      case Op::logical_not:
        return !boolean(node.children[0]);
      case Op::logical_and:
        return boolean(node.children[0]) && boolean(node.children[1]);
      case Op::logical_or:
        return boolean(node.children[0]) || boolean(node.children[1]);
      case Op::equal:
        return equal(node);
      case Op::not_equal:
        return !equal(node);
      default:
        return arithmetic(node);
    }
  }

  Int integer(const Node& node) { return as_integer(value(node)); }
  bool boolean(const Node& node) {
    const Value v = value(node);
    if (const bool* b = std::get_if<bool>(&v)) return *b;
    if (fault.empty()) fail(fmt::format("{} is used as true or false", to_text(v)));
    return false;
  }
  void fail(std::string what) {
    if (fault.empty()) fault = std::move(what);
  }
  Int as_integer(const Value& v) {
    if (const Int* i = std::get_if<Int>(&v)) return *i;
    if (const bool* b = std::get_if<bool>(&v)) return *b ? 1 : 0;
    fail(std::holds_alternative<double>(v) ? "a float parameter can only stand alone"
                                           : fmt::format("{} is used as a number", to_text(v)));
    return 0;
  }

 private:
  Value lookup(const std::string& name) {
    if (const Value* v = scope_.find(name)) return *v;
    if (name.starts_with("device.has_")) return false;
    fail(fmt::format("\"{}\" is not known here", name));
    return Int{0};
  }

  Value size_of(const std::string& name) {
    if (const auto type = parse_dtype(name)) return static_cast<Int>(size_bytes(*type));
    const Value v = lookup(name);
    if (const DType* t = std::get_if<DType>(&v)) return static_cast<Int>(size_bytes(*t));
    fail(fmt::format("sizeof wants a type, \"{}\" is none", name));
    return Int{0};
  }

  bool equal(const Node& node) {
    const Value a = value(node.children[0]);
    const Value b = value(node.children[1]);
    const bool types = std::holds_alternative<DType>(a) || std::holds_alternative<DType>(b);
    if (types) {
      if (a.index() != b.index()) fail("a type is compared with something else");
      return a == b;
    }
    return as_integer(a) == as_integer(b);
  }

  Int checked(const std::optional<Int>& result, const char* what) {
    if (!result) fail(what);
    return result.value_or(0);
  }

  Value arithmetic(const Node& node) {
    const Int a = integer(node.children[0]);
    if (node.op == Op::negate) {
      Int r = 0;
      return checked(__builtin_sub_overflow(Int{0}, a, &r) ? std::nullopt : std::optional(r),
                     "overflow");
    }
    if (node.op == Op::min || node.op == Op::max) {
      Int r = a;
      for (const Node& child : node.children) {
        const Int c = integer(child);
        r = node.op == Op::min ? std::min(r, c) : std::max(r, c);
      }
      return r;
    }
    const Int b = integer(node.children[1]);
    Int r = 0;
    switch (node.op) {
      case Op::less:
        return a < b;
      case Op::less_equal:
        return a <= b;
      case Op::greater:
        return a > b;
      case Op::greater_equal:
        return a >= b;
      case Op::add:
        return checked(__builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r),
                       "overflow");
      case Op::subtract:
        return checked(__builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r),
                       "overflow");
      case Op::multiply:
        return checked(__builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r),
                       "overflow");
      case Op::divide:
        return checked(floor_div(a, b), "division by zero");
      case Op::modulo: {
        const Int q = checked(floor_div(a, b), "division by zero");
        return fault.empty() ? Value(a - q * b) : Value(Int{0});
      }
      case Op::ceil_div: {
        const Int q = checked(floor_div(a, b), "division by zero");
        if (!fault.empty()) return Int{0};
        return q + (a - q * b != 0 ? 1 : 0);
      }
      case Op::clamp: {
        const Int high = integer(node.children[2]);
        return std::min(std::max(a, b), high);
      }
      default:
        fail("no such operation");
        return Int{0};
    }
  }

  const Scope& scope_;
};

}  // namespace

std::string to_text(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  return std::string(name(std::get<DType>(value)));
}

const Value* Scope::find(std::string_view name) const {
  if (const auto it = values_.find(name); it != values_.end()) return &it->second;
  return outer_ ? outer_->find(name) : nullptr;
}

const bool* Scope::find_present(std::string_view tensor) const {
  if (const auto it = present_.find(tensor); it != present_.end()) return &it->second;
  return outer_ ? outer_->find_present(tensor) : nullptr;
}

base::Result<Expr> Expr::parse(std::string_view text, std::string_view where) {
  if (text.size() > kMaxText)
    return base::usage_error(std::string(where), "an expression has at most 4096 characters");
  auto parsed = std::make_shared<Parsed>();
  parsed->text = std::string(text);
  Parser parser(parsed->text);
  auto root = parser.parse();
  if (!root) return base::usage_error(std::string(where), parser.fault());
  parsed->root = std::move(*root);
  parsed->names = std::move(parser.names);
  parsed->tensors = std::move(parser.tensors);
  return Expr(std::move(parsed));
}

Expr Expr::constant(std::int64_t value) {
  auto parsed = std::make_shared<Parsed>();
  parsed->text = std::to_string(value);
  parsed->root.integer = value;
  return Expr(std::move(parsed));
}

base::Result<Value> Expr::eval(const Scope& scope) const {
  Evaluation evaluation(scope);
  const Value value = evaluation.value(parsed_->root);
  if (!evaluation.fault.empty()) return base::usage_error(parsed_->text, evaluation.fault);
  return value;
}

base::Result<std::int64_t> Expr::eval_integer(const Scope& scope) const {
  Evaluation evaluation(scope);
  const std::int64_t value = evaluation.integer(parsed_->root);
  if (!evaluation.fault.empty()) return base::usage_error(parsed_->text, evaluation.fault);
  return value;
}

base::Result<bool> Expr::eval_boolean(const Scope& scope) const {
  Evaluation evaluation(scope);
  const bool value = evaluation.boolean(parsed_->root);
  if (!evaluation.fault.empty()) return base::usage_error(parsed_->text, evaluation.fault);
  return value;
}

base::Result<double> Expr::eval_number(const Scope& scope) const {
  KS_TRY(const Value value, eval(scope));
  if (const double* d = std::get_if<double>(&value)) return *d;
  KS_TRY(const std::int64_t integer, eval_integer(scope));
  return static_cast<double>(integer);
}

const std::set<std::string>& Expr::names() const { return parsed_->names; }
const std::set<std::string>& Expr::tensors() const { return parsed_->tensors; }
const std::string& Expr::text() const { return parsed_->text; }
const Expr::Node& Expr::root() const { return parsed_->root; }

}  // namespace ksearch::kernel
