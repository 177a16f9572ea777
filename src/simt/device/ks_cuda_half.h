// __half and __nv_bfloat16, and their pairs: 16 bits in memory, every operation computed in float
// (a fused one in double) and rounded once.
#pragma once
#include "ks_cuda_integer.h"

namespace ks {
/// The double as a float whose last bit says that something was cut off: rounding it again is
/// right.
METAL_FUNC constexpr float odd_float(double x) {
  const float near = float(x);
  if (double(near) == x || __builtin_isnan(near) || __builtin_isinf(near)) return near;
  u32 bits = __builtin_bit_cast(u32, near);
  if ((bits & 1u) == 0) {
    const double back = double(near);
    const bool away = (back < 0 ? -back : back) < (x < 0 ? -x : x);
    bits = away ? bits + 1 : bits - 1;
  }
  return __builtin_bit_cast(float, bits);
}
/// In a direction that is not nearest: the neighbour of what nearest gives, where it is beyond.
template <class H>
METAL_FUNC H step_to(float x, H near, Round how) {
  const float back = float(near);
  if (back == x || __builtin_isnan(x)) return near;
  const bool lower = how == Round::down || (how == Round::zero && x > 0);
  if (lower ? back < x : back > x) return near;
  u16 bits = __builtin_bit_cast(u16, near);
  if ((bits & 0x7fffu) == 0)
    bits = lower ? 0x8001u : 0x0001u;
  else
    bits = u16((bits >> 15 != 0) == lower ? bits + 1 : bits - 1);
  return __builtin_bit_cast(H, bits);
}
}  // namespace ks

#define KS_SMALL_FROM(H, Raw, T) \
  METAL_FUNC constexpr H(T x) : ks_value(Raw(float(x))) {}
#define KS_SMALL_TO(T) \
  METAL_FUNC constexpr operator T() const { return (T) float(ks_value); }
#define KS_SMALL(H, Raw)                                                                      \
  struct H##_raw {                                                                            \
    unsigned short x;                                                                         \
  };                                                                                          \
  struct alignas(2) H {                                                                       \
    Raw ks_value;                                                                             \
    H() = default;                                                                            \
    METAL_FUNC constexpr H(double x) : ks_value(Raw(ks::odd_float(x))) {}                     \
    METAL_FUNC constexpr H(H##_raw r) : ks_value(__builtin_bit_cast(Raw, r.x)) {}             \
    KS_SMALL_FROM(H, Raw, float)                                                              \
    KS_SMALL_FROM(H, Raw, short)                                                              \
    KS_SMALL_FROM(H, Raw, unsigned short)                                                     \
    KS_SMALL_FROM(H, Raw, int)                                                                \
    KS_SMALL_FROM(H, Raw, unsigned)                                                           \
    KS_SMALL_FROM(H, Raw, long)                                                               \
    KS_SMALL_FROM(H, Raw, unsigned long)                                                      \
    KS_SMALL_FROM(H, Raw, long long)                                                          \
    KS_SMALL_FROM(H, Raw, unsigned long long)                                                 \
    METAL_FUNC constexpr operator float() const { return float(ks_value); }                   \
    METAL_FUNC constexpr explicit operator double() const { return double(float(ks_value)); } \
    METAL_FUNC constexpr operator bool() const { return float(ks_value) != 0.0f; }            \
    METAL_FUNC constexpr operator H##_raw() const {                                           \
      return {__builtin_bit_cast(unsigned short, ks_value)};                                  \
    }                                                                                         \
    KS_SMALL_TO(char)                                                                         \
    KS_SMALL_TO(signed char)                                                                  \
    KS_SMALL_TO(unsigned char)                                                                \
    KS_SMALL_TO(short)                                                                        \
    KS_SMALL_TO(unsigned short)                                                               \
    KS_SMALL_TO(int)                                                                          \
    KS_SMALL_TO(unsigned)                                                                     \
    KS_SMALL_TO(long)                                                                         \
    KS_SMALL_TO(unsigned long)                                                                \
    KS_SMALL_TO(long long)                                                                    \
    KS_SMALL_TO(unsigned long long)                                                           \
    METAL_FUNC constexpr float f() const { return float(ks_value); }                          \
  };                                                                                          \
  METAL_FUNC constexpr H operator+(const H& a, const H& b) { return H(a.f() + b.f()); }       \
  METAL_FUNC constexpr H operator-(const H& a, const H& b) { return H(a.f() - b.f()); }       \
  METAL_FUNC constexpr H operator*(const H& a, const H& b) { return H(a.f() * b.f()); }       \
  METAL_FUNC constexpr H operator/(const H& a, const H& b) { return H(a.f() / b.f()); }       \
  METAL_FUNC constexpr H operator+(const H& a) { return a; }                                  \
  METAL_FUNC constexpr H operator-(const H& a) { return H(-a.f()); }                          \
  METAL_FUNC constexpr H& operator+=(H& a, const H& b) { return a = a + b; }                  \
  METAL_FUNC constexpr H& operator-=(H& a, const H& b) { return a = a - b; }                  \
  METAL_FUNC constexpr H& operator*=(H& a, const H& b) { return a = a * b; }                  \
  METAL_FUNC constexpr H& operator/=(H& a, const H& b) { return a = a / b; }                  \
  METAL_FUNC constexpr H& operator++(H& a) { return a = H(a.f() + 1.0f); }                    \
  METAL_FUNC constexpr H& operator--(H& a) { return a = H(a.f() - 1.0f); }                    \
  METAL_FUNC constexpr bool operator==(const H& a, const H& b) { return a.f() == b.f(); }     \
  METAL_FUNC constexpr bool operator!=(const H& a, const H& b) { return a.f() != b.f(); }     \
  METAL_FUNC constexpr bool operator<(const H& a, const H& b) { return a.f() < b.f(); }       \
  METAL_FUNC constexpr bool operator>(const H& a, const H& b) { return a.f() > b.f(); }       \
  METAL_FUNC constexpr bool operator<=(const H& a, const H& b) { return a.f() <= b.f(); }     \
  METAL_FUNC constexpr bool operator>=(const H& a, const H& b) { return a.f() >= b.f(); }     \
  struct H##2_raw {                                                                           \
    unsigned short x, y;                                                                      \
  };                                                                                          \
  struct alignas(4) H##2 {                                                                    \
    H x, y;                                                                                   \
    H##2() = default;                                                                         \
    METAL_FUNC constexpr H##2(const H& a, const H& b) : x(a), y(b) {}                         \
    METAL_FUNC constexpr H##2(H##2_raw r) : x(H##_raw{r.x}), y(H##_raw{r.y}) {}               \
  };                                                                                          \
  METAL_FUNC constexpr H##2 operator+(const H##2 & a, const H##2 & b) {                       \
    return {a.x + b.x, a.y + b.y};                                                            \
  }                                                                                           \
  METAL_FUNC constexpr H##2 operator-(const H##2 & a, const H##2 & b) {                       \
    return {a.x - b.x, a.y - b.y};                                                            \
  }                                                                                           \
  METAL_FUNC constexpr H##2 operator*(const H##2 & a, const H##2 & b) {                       \
    return {a.x * b.x, a.y * b.y};                                                            \
  }                                                                                           \
  METAL_FUNC constexpr H##2 operator/(const H##2 & a, const H##2 & b) {                       \
    return {a.x / b.x, a.y / b.y};                                                            \
  }                                                                                           \
  METAL_FUNC constexpr H##2 operator-(const H##2 & a) { return {-a.x, -a.y}; }                \
  METAL_FUNC constexpr H##2 & operator+=(H##2 & a, const H##2 & b) { return a = a + b; }      \
  METAL_FUNC constexpr H##2 & operator-=(H##2 & a, const H##2 & b) { return a = a - b; }      \
  METAL_FUNC constexpr H##2 & operator*=(H##2 & a, const H##2 & b) { return a = a * b; }      \
  METAL_FUNC constexpr H##2 & operator/=(H##2 & a, const H##2 & b) { return a = a / b; }      \
  METAL_FUNC constexpr bool operator==(const H##2 & a, const H##2 & b) {                      \
    return a.x == b.x && a.y == b.y;                                                          \
  }                                                                                           \
  METAL_FUNC constexpr bool operator!=(const H##2 & a, const H##2 & b) {                      \
    return a.x != b.x && a.y != b.y;                                                          \
  }
KS_SMALL(__half, _Float16)
KS_SMALL(__nv_bfloat16, __bf16)
#undef KS_SMALL
#undef KS_SMALL_FROM
#undef KS_SMALL_TO
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#include "ks_cuda_half_functions.h"
