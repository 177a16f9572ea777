// Values that a launch passes to a CUDA kernel, as text.
#include <fmt/format.h>

#include <charconv>

#include "simt/case.h"
#include "simt/fill.h"

namespace ksearch::simt {
namespace {

constexpr char kForm[] = "n=64, eps=1e-5, causal=true, p={ptr:in,i32:64,f32:0.5}";

/// The whole text as a number of type T.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (text.empty() || rest != end || fault != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto value = number<std::int64_t>(text)) return value;
  if (const auto value = number<std::uint64_t>(text)) return static_cast<std::int64_t>(*value);
  return std::nullopt;
}

/// ptr:NAME or DTYPE:NUMBER
std::optional<Value::Field> field(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view type = text.substr(0, colon), value = text.substr(colon + 1);
  if (type == "ptr") return Value::Field{{}, std::string(value)};
  const auto dtype = dtype_named(type);
  if (!dtype) return std::nullopt;
  if (const auto whole = integer(value); whole && (type == "i64" || type == "u64")) {
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i)
      bytes[static_cast<std::size_t>(i)] = static_cast<char>(*whole >> (8 * i));
    return Value::Field{bytes, {}};
  } else if (whole) {
    return Value::Field{encode(*dtype, static_cast<double>(*whole)), {}};
  }
  if (const auto real = number<double>(value)) return Value::Field{encode(*dtype, *real), {}};
  return std::nullopt;
}

}  // namespace

base::Result<Value> parse_value(std::string_view text) {
  const std::string where = fmt::format("--param {}", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return base::usage_error(where, "there is no NAME=", kForm);
  std::string_view rest = text.substr(equals + 1);
  Value value;
  if (rest.starts_with('{') && rest.ends_with('}')) {
    rest = rest.substr(1, rest.size() - 2);
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const auto one = field(rest.substr(0, comma));
      if (!one)
        return base::usage_error(where, fmt::format("\"{}\" is no field", rest.substr(0, comma)),
                                 kForm);
      value.fields.push_back(*one);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (value.fields.empty()) return base::usage_error(where, "the struct has no field", kForm);
    return value;
  }
  value.integer = integer(rest);
  if (!value.integer) value.number = number<double>(rest);
  if (!value.integer && !value.number)
    return base::usage_error(where, fmt::format("\"{}\" is no value", rest), kForm);
  return value;
}

}  // namespace ksearch::simt
