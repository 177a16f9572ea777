// Element types of tensors: names, sizes, and conversion of the half types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ksearch::kernel {

/// Names are FlashInfer-Bench's. The 8-bit floats are known by name only: nothing computes with
/// them.
enum class DType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean,
};

std::string_view name(DType type);  ///< "float32", "bool", ...
std::optional<DType> parse_dtype(std::string_view name);
std::size_t size_bytes(DType type);
bool is_float(DType type);
/// The type in dialect `cpp`: "float", "ks_bf16", "int32_t", ...
std::string_view cpp_name(DType type);

/// IEEE binary16 and bfloat16, rounded to nearest even; a NaN stays a NaN.
std::uint16_t half_from_float(float value);
float float_from_half(std::uint16_t bits);
std::uint16_t bfloat16_from_float(float value);
float float_from_bfloat16(std::uint16_t bits);

}  // namespace ksearch::kernel
