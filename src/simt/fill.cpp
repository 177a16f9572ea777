#include "simt/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace ksearch::simt {
namespace {

constexpr std::uint64_t kDrawStep = 0x9E3779B97F4A7C15ull;

/// What `draw` mixes for k = 0; each further k adds a step.
std::uint64_t first_draw(std::uint64_t seed, std::uint64_t i) {
  return (seed * 1000003 + 16 * i + 1) * kDrawStep;
}

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

double unit(std::uint64_t seed, std::uint64_t i, std::uint64_t k) {
  return static_cast<double>(draw(seed, i, k) >> 40) / 16777216.0;
}

double value_of(const Init& init, std::uint64_t i) {
  switch (init.kind) {
    case Init::Kind::constant:
      return init.value;
    case Init::Kind::iota: {
      const std::uint64_t at = init.modulo > 0 ? i % static_cast<std::uint64_t>(init.modulo) : i;
      return init.start + init.step * static_cast<double>(at);
    }
    case Init::Kind::ints:
      if (init.values) return (*init.values)[i];
      return init.low + static_cast<double>((draw(init.seed, i, 0) >> 33) %
                                            static_cast<std::uint64_t>(init.high - init.low));
    case Init::Kind::uniform:
      return init.low + (init.high - init.low) * unit(init.seed, i, 0);
    case Init::Kind::normal:  // see fill_normal
    case Init::Kind::none:
    case Init::Kind::bytes:
    case Init::Kind::file:
      break;
  }
  return 0;
}

/// float64 to binary16, rounded once: by way of float32 a value near a tie could be rounded twice.
std::uint16_t half_of(double value) {
  constexpr int kDropped = 52 - 10;  // bits of the fraction
  constexpr std::uint16_t kInfinity = 0x7c00, kNan = 0x7e00;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ffu) - 1023;
  if (std::isnan(value)) return sign | kNan;
  if (exponent > 15) return sign | kInfinity;
  if (exponent < -25) return sign;
  const std::uint64_t whole = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const int dropped = kDropped + std::max(0, -14 - exponent);
  std::uint64_t kept = whole >> dropped;
  const std::uint64_t rest = whole & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (dropped - 1);
  kept += rest > tie || (rest == tie && kept % 2 == 1);
  // A normal number's first bit adds one to the exponent, and so does a carry.
  if (exponent >= -14) kept += static_cast<std::uint64_t>(exponent + 14) << 10;
  return sign | static_cast<std::uint16_t>(kept);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

void put_element(kernel::DType type, std::span<std::byte> bytes, std::size_t i, double value) {
  using kernel::DType;
  const auto whole = static_cast<std::int64_t>(value);
  switch (type) {
    case DType::float64:
      return put(bytes, i, value);
    case DType::float32:
      return put(bytes, i, static_cast<float>(value));
    case DType::float16:
      return put(bytes, i, half_of(value));
    case DType::bfloat16:
      return put(bytes, i, kernel::bfloat16_from_float(static_cast<float>(value)));
    case DType::int64:
    case DType::uint64:
      return put(bytes, i, whole);
    case DType::int32:
    case DType::uint32:
      return put(bytes, i, static_cast<std::uint32_t>(whole));
    case DType::int16:
    case DType::uint16:
      return put(bytes, i, static_cast<std::uint16_t>(whole));
    case DType::int8:
    case DType::uint8:
      return put(bytes, i, static_cast<std::uint8_t>(whole));
    case DType::boolean:
      return put(bytes, i, static_cast<std::uint8_t>(value != 0));
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      return;
  }
}

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define KSEARCH_WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define KSEARCH_WIDE
#endif

constexpr std::size_t kBlock = 256;

/// Of elements `first` and on, twelve uniform numbers each: multiples of 2^-24, so that their sum
/// is exact in any order.
KSEARCH_WIDE void sum_draws(std::uint64_t seed, std::uint64_t first,
                            std::array<std::uint64_t, kBlock>& sums) {
  sums.fill(0);
  for (std::uint64_t k = 0; k < 12; ++k)
    for (std::size_t i = 0; i < kBlock; ++i)
      sums[i] += mixed(first_draw(seed, first + i) + k * kDrawStep) >> 40;
}

void fill_normal(const Init& init, kernel::DType type, std::span<std::byte> bytes,
                 std::size_t count) {
  std::array<std::uint64_t, kBlock> sums;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kBlock == 0) sum_draws(init.seed, i, sums);
    const double unit_normal = static_cast<double>(sums[i % kBlock]) / 16777216.0 - 6;
    put_element(type, bytes, i, init.mean + init.deviation * unit_normal);
  }
}

}  // namespace

std::uint64_t draw(std::uint64_t seed, std::uint64_t i, std::uint64_t k) {
  return mixed(first_draw(seed, i) + k * kDrawStep);
}

std::string encode(kernel::DType type, double value) {
  std::string bytes(kernel::size_bytes(type), '\0');
  put_element(type, std::as_writable_bytes(std::span(bytes)), 0, value);
  return bytes;
}

base::Result<void> fill(const Buffer& buffer, std::span<std::byte> bytes) {
  const Init& init = buffer.init;
  const auto count = static_cast<std::size_t>(buffer.elements());
  if (init.kind == Init::Kind::none) return {};
  if (buffer.dtype == kernel::DType::float8_e4m3fn || buffer.dtype == kernel::DType::float8_e5m2)
    return base::usage_error(buffer.name, "8-bit floats are known by name only", "use uint8");
  if (init.kind == Init::Kind::file)
    return base::usage_error(buffer.name, "contents in a file belong to a case that is a file");
  if (buffer.strides && init.kind != Init::Kind::bytes)
    return base::usage_error(buffer.name, "an input with strides is given by its bytes");
  if (init.kind == Init::Kind::bytes) {
    if (init.bytes.size() != bytes.size())
      return base::usage_error(
          buffer.name, fmt::format("{} bytes are given for {}", init.bytes.size(), bytes.size()));
    std::memcpy(bytes.data(), init.bytes.data(), bytes.size());
    return {};
  }
  if (init.values && init.values->size() != count)
    return base::usage_error(buffer.name, fmt::format("{} values are given for {} elements",
                                                      init.values->size(), count));
  if (init.kind == Init::Kind::ints && !init.values && !(init.high >= init.low + 1))
    return base::usage_error(buffer.name, "hi is above lo");
  if (init.kind == Init::Kind::normal)
    fill_normal(init, buffer.dtype, bytes, count);
  else
    for (std::size_t i = 0; i < count; ++i) put_element(buffer.dtype, bytes, i, value_of(init, i));
  return {};
}

}  // namespace ksearch::simt
