// Parameter structs: fields with C's layout, as bytes of a buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/program.h"

namespace ksearch::simt {

struct Field {
  kernel::ScalarKind kind = kernel::ScalarKind::i32;
  double value = 0;          ///< of f32
  std::int64_t integer = 0;  ///< of all others
};

/// "i32", "u32", "i64", "f32", "bool".
std::optional<kernel::ScalarKind> parse_scalar_kind(std::string_view text);
/// "64" for i32, "0.5" for f32, "true" for bool; nothing where it is no such value.
std::optional<Field> parse_field(kernel::ScalarKind kind, std::string_view value);

/// Each field at a multiple of its size, the whole a multiple of the largest's.
std::string struct_bytes(const std::vector<Field>& fields);

}  // namespace ksearch::simt
