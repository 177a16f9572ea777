#include "kernel/dtype.h"

#include <array>
#include <bit>
#include <string_view>

#include "base/check.h"

namespace ksearch::kernel {
namespace {

#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
using Half = __fp16;  // GCC 12 has no _Float16 there in C++
#else
using Half = _Float16;
#endif

struct Row {
  DType type;
  std::string_view name;
  std::size_t size;
  bool is_float;
  std::string_view cpp;
};

constexpr std::array kRows{
    Row{DType::float64, "float64", 8, true, "double"},
    Row{DType::float32, "float32", 4, true, "float"},
    Row{DType::float16, "float16", 2, true, "ks_half"},
    Row{DType::bfloat16, "bfloat16", 2, true, "ks_bf16"},
    Row{DType::float8_e4m3fn, "float8_e4m3fn", 1, true, "uint8_t"},
    Row{DType::float8_e5m2, "float8_e5m2", 1, true, "uint8_t"},
    Row{DType::int64, "int64", 8, false, "int64_t"},
    Row{DType::int32, "int32", 4, false, "int32_t"},
    Row{DType::int16, "int16", 2, false, "int16_t"},
    Row{DType::int8, "int8", 1, false, "int8_t"},
    Row{DType::uint64, "uint64", 8, false, "uint64_t"},
    Row{DType::uint32, "uint32", 4, false, "uint32_t"},
    Row{DType::uint16, "uint16", 2, false, "uint16_t"},
    Row{DType::uint8, "uint8", 1, false, "uint8_t"},
    Row{DType::boolean, "bool", 1, false, "bool"},
};

const Row& row(DType type) {
  for (const Row& r : kRows)
    if (r.type == type) return r;
  KS_CHECK(false, "every type has its row");
  return kRows[0];
}

}  // namespace

std::string_view name(DType type) { return row(type).name; }
std::size_t size_bytes(DType type) { return row(type).size; }
bool is_float(DType type) { return row(type).is_float; }
std::string_view cpp_name(DType type) { return row(type).cpp; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const Row& r : kRows)
    if (r.name == text) return r.type;
  return std::nullopt;
}

std::uint16_t half_from_float(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<Half>(value));
}

float float_from_half(std::uint16_t bits) { return static_cast<float>(std::bit_cast<Half>(bits)); }

std::uint16_t bfloat16_from_float(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

float float_from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace ksearch::kernel
