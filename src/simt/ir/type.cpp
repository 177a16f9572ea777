#include "simt/ir/type.h"

#include <charconv>

#include "simt/ir/module.h"

namespace ksearch::simt::ir {
namespace {

constexpr int kDeepestType = 16;

int leading_number(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// "<4 x float>", "[4 x float]"
Type repeated(std::string_view text) {
  const std::size_t times = text.find(" x ");
  if (times == std::string_view::npos) return {};
  Type element = parse_type(text.substr(times + 3, text.size() - times - 4));
  const int count = leading_number(text.substr(1));
  if (element.kind == Type::Kind::none || count <= 0) return {};
  if (text.front() == '<') {
    element.count *= count;
    return element;
  }
  return {Type::Kind::aggregate, element.bits * element.count * count, 1};
}

/// "{ float, i32 }"
Type structure(std::string_view text) {
  Type all{Type::Kind::aggregate, 0, 1};
  for (const std::string_view part : words(text.substr(1, text.size() - 2))) {
    const Type type = parse_type(part);
    all.bits += type.bits * type.count;
  }
  return all;
}

}  // namespace

Type parse_type(std::string_view text) {
  using Kind = Type::Kind;
  if (text == "float") return {Kind::float32, 32, 1};
  if (text == "half") return {Kind::half, 16, 1};
  if (text == "bfloat") return {Kind::bfloat, 16, 1};
  if (text == "double") return {Kind::float64, 64, 1};
  if (text == "ptr") return {Kind::pointer, 64, 1};
  if (text.size() < 2) return {};
  if (text.front() == 'i' && text[1] >= '1' && text[1] <= '9')
    return {Kind::integer, leading_number(text.substr(1)), 1};
  if (text.starts_with("<{")) return structure(text.substr(1, text.size() - 2));
  if (text.front() == '<' || text.front() == '[') return repeated(text);
  if (text.front() == '{') return structure(text);
  return {};
}

std::string_view name(const Type& type) {
  switch (type.kind) {
    case Type::Kind::half:
      return "half";
    case Type::Kind::bfloat:
      return "bfloat";
    case Type::Kind::float32:
      return "float";
    case Type::Kind::float64:
      return "double";
    case Type::Kind::integer:
      return type.bits == 1 ? "bool" : type.bits <= 16 ? "short" : type.bits <= 32 ? "int" : "long";
    default:
      return "long";
  }
}

int bytes_of(const Module& module, std::string_view type, int depth) {
  if (depth > kDeepestType) return 0;
  if (type.starts_with('%')) return bytes_of(module, module.named_type(type), depth + 1);
  if (type.size() < 2) return 0;
  if (const int bytes = parse_type(type).bytes(); bytes > 0 && type.front() != '{') return bytes;
  if (const std::size_t times = type.find(" x "); type.front() == '[' && times < type.size()) {
    return leading_number(type.substr(1)) *
           bytes_of(module, type.substr(times + 3, type.size() - times - 4), depth + 1);
  }
  int sum = 0;
  if (type.front() == '{')
    for (const std::string_view part : words(type.substr(1, type.size() - 2)))
      sum += bytes_of(module, part, depth + 1);
  return sum;
}

}  // namespace ksearch::simt::ir
