#include "conformance/simt/formula.h"

#include <cctype>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "kernel/dtype.h"

namespace ksearch::tests {

using Number = long double;
/// What names mean while a formula is computed.
struct FormulaContext {
  std::map<std::string, Number, std::less<>> names;
  const Arrays& arrays;
};
struct Formula::Node {
  std::function<Number(FormulaContext&)> value;
};

namespace {
using Context = FormulaContext;

std::int64_t whole(Number x) { return static_cast<std::int64_t>(x); }
Number truth(bool b) { return b ? 1.0L : 0.0L; }

const std::map<std::string, std::function<Number(const std::vector<Number>&)>, std::less<>>
    kFunctions = {
        {"abs", [](const auto& a) { return std::fabs(a.at(0)); }},
        {"exp", [](const auto& a) { return std::exp(a.at(0)); }},
        {"log", [](const auto& a) { return std::log(a.at(0)); }},
        {"pow", [](const auto& a) { return std::pow(a.at(0), a.at(1)); }},
        {"sqrt", [](const auto& a) { return std::sqrt(a.at(0)); }},
        {"sin", [](const auto& a) { return std::sin(a.at(0)); }},
        {"cos", [](const auto& a) { return std::cos(a.at(0)); }},
        {"tan", [](const auto& a) { return std::tan(a.at(0)); }},
        {"asin", [](const auto& a) { return std::asin(a.at(0)); }},
        {"acos", [](const auto& a) { return std::acos(a.at(0)); }},
        {"atan", [](const auto& a) { return std::atan(a.at(0)); }},
        {"atan2", [](const auto& a) { return std::atan2(a.at(0), a.at(1)); }},
        {"sinh", [](const auto& a) { return std::sinh(a.at(0)); }},
        {"cosh", [](const auto& a) { return std::cosh(a.at(0)); }},
        {"tanh", [](const auto& a) { return std::tanh(a.at(0)); }},
        {"floor", [](const auto& a) { return std::floor(a.at(0)); }},
        {"ceil", [](const auto& a) { return std::ceil(a.at(0)); }},
        {"trunc", [](const auto& a) { return std::trunc(a.at(0)); }},
        {"round", [](const auto& a) { return std::round(a.at(0)); }},
        {"even", [](const auto& a) { return std::nearbyint(a.at(0)); }},
        {"min", [](const auto& a) { return std::fmin(a.at(0), a.at(1)); }},
        {"max", [](const auto& a) { return std::fmax(a.at(0), a.at(1)); }},
        {"bits",  // set bits of a whole number
         [](const auto& a) {
           return Number(__builtin_popcountll(static_cast<std::uint64_t>(whole(a.at(0)))));
         }},
        {"f32", [](const auto& a) { return Number(static_cast<float>(a.at(0))); }},
        {"f16",
         [](const auto& a) {
           return Number(
               kernel::float_from_half(kernel::half_from_float(static_cast<float>(a.at(0)))));
         }},
        {"bf16", [](const auto& a) {
           return Number(kernel::float_from_bfloat16(
               kernel::bfloat16_from_float(static_cast<float>(a.at(0)))));
         }}};

using Value = std::function<Number(Context&)>;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Value run() {
    Value value = choice();
    if (skip() != '\0') fault("something follows");
    return value;
  }

 private:
  [[noreturn]] void fault(const std::string& what) const {
    throw std::runtime_error("formula \"" + std::string(text_) + "\": " + what + " at " +
                             std::to_string(at_));
  }
  char skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view op) {
    skip();
    if (!text_.substr(at_).starts_with(op)) return false;
    at_ += op.size();
    return true;
  }
  void need(std::string_view op) {
    if (!take(op)) fault("\"" + std::string(op) + "\" is missing");
  }

  Value choice() {
    Value condition = binary(0);
    if (!take("?")) return condition;
    Value yes = choice();
    need(":");
    Value no = choice();
    return [=](Context& c) { return condition(c) != 0 ? yes(c) : no(c); };
  }

  struct Operator {
    std::string_view text;
    Number (*apply)(Number, Number);
  };
  static const std::vector<std::vector<Operator>>& levels() {
    static const std::vector<std::vector<Operator>> kLevels = {
        {{"||", [](Number a, Number b) { return truth(a != 0 || b != 0); }}},
        {{"&&", [](Number a, Number b) { return truth(a != 0 && b != 0); }}},
        {{"|", [](Number a, Number b) { return Number(whole(a) | whole(b)); }}},
        {{"^", [](Number a, Number b) { return Number(whole(a) ^ whole(b)); }}},
        {{"&", [](Number a, Number b) { return Number(whole(a) & whole(b)); }}},
        {{"==", [](Number a, Number b) { return truth(a == b); }},
         {"!=", [](Number a, Number b) { return truth(a != b); }}},
        {{"<=", [](Number a, Number b) { return truth(a <= b); }},
         {">=", [](Number a, Number b) { return truth(a >= b); }},
         {"<", [](Number a, Number b) { return truth(a < b); }},
         {">", [](Number a, Number b) { return truth(a > b); }}},
        {{"<<", [](Number a, Number b) { return Number(whole(a) << whole(b)); }},
         {">>", [](Number a, Number b) { return Number(whole(a) >> whole(b)); }}},
        {{"+", [](Number a, Number b) { return a + b; }},
         {"-", [](Number a, Number b) { return a - b; }}},
        {{"*", [](Number a, Number b) { return a * b; }},
         {"/", [](Number a, Number b) { return a / b; }},
         {"%", [](Number a, Number b) { return Number(whole(a) % whole(b)); }}}};
    return kLevels;
  }
  const Operator* take_operator(std::size_t level) {
    skip();
    const std::string_view rest = text_.substr(at_);
    for (const Operator& op : levels()[level]) {
      if (!rest.starts_with(op.text)) continue;
      const char next = rest.size() > op.text.size() ? rest[op.text.size()] : '\0';
      // "|" of "||", "<" of "<<".
      if (op.text.size() == 1 && next == op.text[0] && op.text != "-" && op.text != "+") continue;
      at_ += op.text.size();
      return &op;
    }
    return nullptr;
  }
  Value binary(std::size_t level) {
    if (level == levels().size()) return unary();
    Value left = binary(level + 1);
    while (const Operator* op = take_operator(level)) {
      Value right = binary(level + 1);
      left = [apply = op->apply, left, right](Context& c) { return apply(left(c), right(c)); };
    }
    return left;
  }

  Value unary() {
    if (take("-")) {
      Value value = unary();
      return [=](Context& c) { return -value(c); };
    }
    if (take("(")) {
      Value value = choice();
      need(")");
      return value;
    }
    const char c = skip();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c))) return named();
    fault("a value is missing");
  }

  Value number() {
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    // strtold reads 0x1p-3 too.
    const Number value = std::strtold(rest.c_str(), &end);
    at_ += static_cast<std::size_t>(end - rest.c_str());
    return [=](Context&) { return value; };
  }

  std::string word() {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Value named() {
    const std::string name = word();
    if (name == "nan") return [](Context&) { return std::nanl(""); };
    if (name == "inf") return [](Context&) { return Number(HUGE_VALL); };
    if (name == "pi") return [](Context&) { return 3.14159265358979323846L; };
    if (take("[")) {
      Value index = choice();
      need("]");
      return [=](Context& c) {
        const auto found = c.arrays.find(name);
        if (found == c.arrays.end()) throw std::runtime_error("no buffer is named " + name);
        return found->second.at(static_cast<std::size_t>(index(c)));
      };
    }
    if (!take("("))
      return [=](Context& c) {
        const auto found = c.names.find(name);
        if (found == c.names.end()) throw std::runtime_error("nothing is named " + name);
        return found->second;
      };
    if (name == "sum" || name == "prod" || name == "least" || name == "most") return fold(name);
    const auto function = kFunctions.find(name);
    if (function == kFunctions.end()) fault("no function is named " + name);
    std::vector<Value> values;
    do values.push_back(choice());
    while (take(","));
    need(")");
    return [call = function->second, values](Context& c) {
      std::vector<Number> numbers;
      for (const Value& value : values) numbers.push_back(value(c));
      return call(numbers);
    };
  }

  Value fold(const std::string& name) {
    const std::string variable = word();
    need(",");
    Value from = choice();
    need(",");
    Value to = choice();
    need(",");
    Value term = choice();
    need(")");
    return [=](Context& c) {
      Number total = name == "prod"    ? 1
                     : name == "least" ? HUGE_VALL
                     : name == "most"  ? -HUGE_VALL
                                       : 0;
      const auto outer = c.names.find(variable);
      const bool hides = outer != c.names.end();
      const Number hidden = hides ? outer->second : 0;
      const Number end = to(c);
      for (Number k = from(c); k < end; ++k) {
        c.names[variable] = k;
        const Number value = term(c);
        total = name == "prod"    ? total * value
                : name == "least" ? std::fmin(total, value)
                : name == "most"  ? std::fmax(total, value)
                                  : total + value;
      }
      if (hides) c.names[variable] = hidden;
      return total;
    };
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Formula::Formula(std::string_view text)
    : root_(std::make_shared<Node>(Node{Parser(text).run()})), text_(text) {}

long double Formula::at(long double i, const Arrays& arrays) const {
  Context context{{{"i", i}}, arrays};
  return root_->value(context);
}

}  // namespace ksearch::tests
