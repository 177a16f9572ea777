// Reading and writing tensor elements of every type as numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "kernel/dtype.h"

namespace ksearch::task {

/// An element type whose stored form is the C++ type R.
template <class R>
struct Plain {
  using Raw = R;
  static double load(const std::byte* at) {
    R r;
    std::memcpy(&r, at, sizeof r);
    return static_cast<double>(r);
  }
  static R from(double value) { return static_cast<R>(value); }
};

/// Stored in 16 bits, rounded from float32 (to nearest even) so that it is rounded as kernels do.
struct Half {
  using Raw = std::uint16_t;
  static double load(const std::byte* at) {
    Raw r;
    std::memcpy(&r, at, sizeof r);
    return static_cast<double>(kernel::float_from_half(r));
  }
  static Raw from(double value) { return kernel::half_from_float(static_cast<float>(value)); }
};

struct Bfloat16 {
  using Raw = std::uint16_t;
  static double load(const std::byte* at) {
    Raw r;
    std::memcpy(&r, at, sizeof r);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(r) << 16));
  }
  static Raw from(double value) { return from(static_cast<float>(value)); }
  // Here and not in kernel/dtype.cpp, so that loops over it become vector code. No NaNs come in.
  static Raw from(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    return static_cast<Raw>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
};

struct Boolean {
  using Raw = std::uint8_t;
  static double load(const std::byte* at) { return *at == std::byte{0} ? 0.0 : 1.0; }
  static Raw from(double value) { return value != 0; }
};

/// Calls f with the element type of `dtype`. The 8-bit floats are refused before it comes to this.
template <class F>
void with_elements(kernel::DType dtype, F f) {
  using kernel::DType;
  switch (dtype) {
    case DType::float64:
      return f(Plain<double>{});
    case DType::float32:
      return f(Plain<float>{});
    case DType::float16:
      return f(Half{});
    case DType::bfloat16:
      return f(Bfloat16{});
    case DType::int64:
      return f(Plain<std::int64_t>{});
    case DType::int32:
      return f(Plain<std::int32_t>{});
    case DType::int16:
      return f(Plain<std::int16_t>{});
    case DType::int8:
      return f(Plain<std::int8_t>{});
    case DType::uint64:
      return f(Plain<std::uint64_t>{});
    case DType::uint32:
      return f(Plain<std::uint32_t>{});
    case DType::uint16:
      return f(Plain<std::uint16_t>{});
    case DType::uint8:
      return f(Plain<std::uint8_t>{});
    case DType::boolean:
      return f(Boolean{});
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      break;
  }
  KS_CHECK(false, "nothing computes with 8-bit floats");
}

/// Element i of a tensor.
inline void store(kernel::DType dtype, std::span<std::byte> out, std::size_t i, double value) {
  with_elements(dtype, [&]<class E>(E) {
    const typename E::Raw raw = E::from(value);
    std::memcpy(out.data() + i * sizeof raw, &raw, sizeof raw);
  });
}

/// Fills a tensor block by block: `make` writes floats, which are rounded to the element type.
template <std::size_t Block, class Make>
void in_blocks(kernel::DType dtype, std::span<std::byte> out, Make make) {
  std::array<float, Block> block;
  with_elements(dtype, [&]<class E>(E) {
    using Raw = typename E::Raw;
    const std::size_t n = out.size() / sizeof(Raw);
    for (std::size_t at = 0; at < n; at += Block) {
      const std::size_t count = std::min(Block, n - at);
      std::byte* to = out.data() + at * sizeof(Raw);
      make(std::span<float>(block.data(), count));
      if constexpr (std::is_same_v<Raw, float>) {
        std::memcpy(to, block.data(), count * sizeof(float));
      } else {
        std::array<Raw, Block> rounded;
        for (std::size_t i = 0; i < count; ++i) {
          if constexpr (std::is_same_v<E, Bfloat16>)
            rounded[i] = E::from(block[i]);
          else
            rounded[i] = E::from(static_cast<double>(block[i]));
        }
        std::memcpy(to, rounded.data(), count * sizeof(Raw));
      }
    }
  });
}

}  // namespace ksearch::task
