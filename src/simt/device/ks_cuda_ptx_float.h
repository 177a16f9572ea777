// PTX: functions of floats, fused products, comparisons, conversions.
#pragma once
#include "ks_cuda_ptx.h"

namespace ks::ptx {

#define KS_PTX_APPROX(name, function)                                               \
  template <class T>                                                                \
  METAL_FUNC T name(T a) {                                                          \
    if constexpr (sizeof(T) == 2)                                                   \
      return T(function(a.f()));                                                    \
    else if constexpr (__is_same(T, f16x2) || __is_same(T, bf16x2))                 \
      return T(decltype(a.x)(function(a.x.f())), decltype(a.x)(function(a.y.f()))); \
    else                                                                            \
      return T(function(a));                                                        \
  }
#define KS_RECIPROCAL(x) (1 / (x))
KS_PTX_APPROX(ex2, exp2)
KS_PTX_APPROX(lg2, log2)
KS_PTX_APPROX(rsqrt, ::rsqrt)
KS_PTX_APPROX(sqrt, ::sqrt)
KS_PTX_APPROX(rcp, KS_RECIPROCAL)
KS_PTX_APPROX(tanh, ::tanh)
KS_PTX_APPROX(sin, ::sin)
KS_PTX_APPROX(cos, ::cos)
#undef KS_RECIPROCAL
#undef KS_PTX_APPROX

template <class T>
METAL_FUNC u32 popc(T a) {
  return u32(__builtin_popcountll((u64)a));
}
template <class T>
METAL_FUNC u32 clz(T a) {
  return sizeof(T) == 4 ? u32(__clz(int(a))) : u32(__clzll((long long)a));
}
template <class T>
METAL_FUNC T brev(T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_bitreverse32(a);
  else
    return __builtin_bitreverse64(a);
}
template <class T>
METAL_FUNC T bfe(T a, u32 from, u32 count) {
  from &= 255u, count &= 255u;
  constexpr u32 kBits = 8 * sizeof(T);
  if (count == 0 || from >= kBits) return count != 0 && __is_signed(T) && a < 0 ? T(-1) : T(0);
  if (from + count > kBits) count = kBits - from;
  using U = std::make_unsigned_t<T>;
  return T(T(U(a) << (kBits - from - count)) >> (kBits - count));
}
template <class T>
METAL_FUNC T bfi(T what, T into, u32 from, u32 count) {
  from &= 255u, count &= 255u;
  if (count == 0 || from >= 8 * sizeof(T)) return into;
  const T ones = count >= 8 * sizeof(T) ? T(~T(0)) : T((T(1) << count) - 1);
  return T((into & ~(ones << from)) | ((what & ones) << from));
}
METAL_FUNC u32 prmt(u32 a, u32 b, u32 selector) { return __byte_perm(a, b, selector); }
METAL_FUNC u32 lop3(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i)
    if (table >> i & 1u) result |= (i & 4u ? a : ~a) & (i & 2u ? b : ~b) & (i & 1u ? c : ~c);
  return result;
}
METAL_FUNC u32 shf_l_wrap(u32 low, u32 high, u32 n) { return __funnelshift_l(low, high, n); }
METAL_FUNC u32 shf_r_wrap(u32 low, u32 high, u32 n) { return __funnelshift_r(low, high, n); }
METAL_FUNC u32 shf_l_clamp(u32 low, u32 high, u32 n) {
  return n >= 32 ? low : __funnelshift_l(low, high, n);
}
METAL_FUNC u32 shf_r_clamp(u32 low, u32 high, u32 n) {
  return n >= 32 ? high : __funnelshift_r(low, high, n);
}
METAL_FUNC int dp4a(s32 a, s32 b, s32 c) { return __dp4a(a, b, c); }
METAL_FUNC u32 dp4a(u32 a, u32 b, u32 c) { return __dp4a(a, b, c); }
/// setp: a comparison, also of floats (the forms with u are true for NaN).
#define KS_PTX_COMPARE(name, op)           \
  template <class T>                       \
  METAL_FUNC bool is_##name(T a, T b) {    \
    return a op b;                         \
  }                                        \
  template <class T>                       \
  METAL_FUNC bool is_##name##u(T a, T b) { \
    return a != a || b != b || a op b;     \
  }
KS_PTX_COMPARE(eq, ==)
KS_PTX_COMPARE(ne, !=)
KS_PTX_COMPARE(lt, <)
KS_PTX_COMPARE(le, <=)
KS_PTX_COMPARE(gt, >)
KS_PTX_COMPARE(ge, >=)
#undef KS_PTX_COMPARE
template <class T>
METAL_FUNC bool is_lo(T a, T b) {
  return a < b;
}
template <class T>
METAL_FUNC bool is_ls(T a, T b) {
  return a <= b;
}
template <class T>
METAL_FUNC bool is_hi(T a, T b) {
  return a > b;
}
template <class T>
METAL_FUNC bool is_hs(T a, T b) {
  return a >= b;
}

template <class T>
METAL_FUNC double real(T a) {
  if constexpr (__is_same(T, f16) || __is_same(T, bf16))
    return double(a.f());
  else
    return double(a);
}
/// cvt; `how` for floats to integers is rni (0), rzi, rpi, rmi.
template <class To, class From>
METAL_FUNC To cvt(From a, int how) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return To(a);
  } else if constexpr (std::is_integral_v<To>) {
    const double x = real(a);
    return to_integer<To>(how == 0   ? ::rint(x)
                          : how == 1 ? ::trunc(x)
                          : how == 2 ? ::ceil(x)
                                     : ::floor(x));
  } else {
    if constexpr (__is_same(To, float))
      return rounded(real(a), Round(how));
    else
      return To(real(a));
  }
}
/// The value that leaves out the low 13 bits of a float: nearest, ties away from zero.
METAL_FUNC u32 cvt_tf32(float a) {
  const u32 bits = __builtin_bit_cast(u32, a);
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0x1000u) & ~0x1fffu;
}
template <class Pair, class H>
METAL_FUNC Pair cvt_pair(float high, float low) {
  return Pair(H(low), H(high));
}

}  // namespace ks::ptx
