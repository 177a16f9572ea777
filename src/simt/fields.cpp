#include "simt/fields.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace ksearch::simt {
namespace {
using kernel::ScalarKind;

std::size_t size_of(ScalarKind kind) {
  return kind == ScalarKind::i64 ? 8 : kind == ScalarKind::boolean ? 1 : 4;
}

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void pad(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

}  // namespace

std::optional<ScalarKind> parse_scalar_kind(std::string_view text) {
  if (text == "i32") return ScalarKind::i32;
  if (text == "u32") return ScalarKind::u32;
  if (text == "i64") return ScalarKind::i64;
  if (text == "f32") return ScalarKind::f32;
  if (text == "bool") return ScalarKind::boolean;
  return std::nullopt;
}

std::optional<Field> parse_field(ScalarKind kind, std::string_view value) {
  Field field{kind, 0, 0};
  if (kind == ScalarKind::boolean) {
    if (value != "true" && value != "false") return std::nullopt;
    field.integer = value == "true" ? 1 : 0;
    return field;
  }
  const std::string text(value);
  char* end = nullptr;
  if (kind == ScalarKind::f32) {
    field.value = std::strtod(text.c_str(), &end);
    return text.empty() || *end ? std::nullopt : std::optional(field);
  }
  const auto last = value.data() + value.size();
  if (value.empty() || std::from_chars(value.data(), last, field.integer).ptr != last)
    return std::nullopt;
  const bool fits =
      kind == ScalarKind::i64 ||
      (kind == ScalarKind::i32 ? field.integer == static_cast<std::int32_t>(field.integer)
                               : field.integer == static_cast<std::uint32_t>(field.integer));
  return fits ? std::optional(field) : std::nullopt;
}

std::string struct_bytes(const std::vector<Field>& fields) {
  std::string bytes;
  std::size_t largest = 1;
  for (const Field& field : fields) {
    const std::size_t size = size_of(field.kind);
    largest = std::max(largest, size);
    pad(bytes, size);
    switch (field.kind) {
      case ScalarKind::f32:
        put(bytes, static_cast<float>(field.value));
        break;
      case ScalarKind::i64:
        put(bytes, field.integer);
        break;
      case ScalarKind::boolean:
        put(bytes, static_cast<char>(field.integer));
        break;
      default:
        put(bytes, static_cast<std::uint32_t>(field.integer));
    }
  }
  pad(bytes, largest);
  return bytes;
}

}  // namespace ksearch::simt
