// What PTX instructions do, as the rewriter calls them: registers are variables, as<T> reads one as
// an instruction's type, set writes one.
#pragma once
#include "ks_cuda_warp.h"

namespace ks::ptx {

using u8 = unsigned char;
using s8 = signed char;
using b8 = unsigned char;
using u16 = unsigned short;
using s16 = short;
using b16 = unsigned short;
using u32 = unsigned;
using s32 = int;
using b32 = unsigned;
using u64 = unsigned long;
using s64 = long;
using b64 = unsigned long;
using f16 = __half;
using f16x2 = __half2;
using bf16 = __nv_bfloat16;
using bf16x2 = __nv_bfloat162;
using f32 = float;
using f64 = double;
using pred = bool;
struct b128 {
  u64 low, high;
};

template <class T, class R>
METAL_FUNC constexpr T as(const R& r) {
  if constexpr (__is_same(T, R))
    return r;
  else if constexpr (__is_pointer(R))
    return T((u64)r);
  else if constexpr (std::is_integral_v<T> && (std::is_integral_v<R> || __is_enum(R)))
    return T(r);
  else if constexpr (sizeof(T) == sizeof(R))
    return __builtin_bit_cast(T, r);
  else if constexpr (sizeof(T) == 2 && sizeof(R) == 4)
    return __builtin_bit_cast(T, u16(__builtin_bit_cast(u32, r)));
  else
    return T(r);  // a literal
}
template <class T, class E, unsigned long n>
METAL_FUNC T as(E (&array)[n]) {
  return T((u64)&array[0]);
}
template <class R, class T>
METAL_FUNC constexpr void set(R& r, const T& value) {
  if constexpr (__is_pointer(R))
    r = (R)(u64)value;
  else if constexpr (sizeof(R) == sizeof(T) && !__is_same(R, bool))
    r = __builtin_bit_cast(R, value);
  else if constexpr (std::is_integral_v<T>)
    r = R(value);
  else if constexpr (sizeof(T) == 2)
    r = R(__builtin_bit_cast(u16, value));
  else
    r = R(value);
}

template <class T, int n>
struct Refs {
  T* at[n];
  METAL_FUNC constexpr T& operator[](int i) const { return *at[i]; }
};
template <class T, class... More>
METAL_FUNC constexpr Refs<T, 1 + sizeof...(More)> refs(T& first, More&... more) {
  return {{&first, &more...}};
}

#define KS_PTX_2(name, expression) \
  template <class T>               \
  METAL_FUNC T name(T a, T b) {    \
    return T(expression);          \
  }
KS_PTX_2(add, a + b)
KS_PTX_2(sub, a - b)
KS_PTX_2(mul, a* b)
KS_PTX_2(mul_lo, a* b)
KS_PTX_2(div, a / b)
KS_PTX_2(rem, a % b)
KS_PTX_2(and_, a& b)
KS_PTX_2(or_, a | b)
KS_PTX_2(xor_, a ^ b)
#undef KS_PTX_2
template <>
METAL_FUNC bool and_(bool a, bool b) {
  return a && b;
}
template <class T>
METAL_FUNC T mul_hi(T a, T b) {
  if constexpr (sizeof(T) == 4)
    return T((std::conditional_t<__is_signed(T), long, unsigned long>)(a)*b >> 32);
  else
    return T((std::conditional_t<__is_signed(T), __int128, unsigned __int128>)(a)*b >> 64);
}
template <class T>
METAL_FUNC auto mul_wide(T a, T b) {
  using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<__is_signed(T), int, unsigned>,
                                  std::conditional_t<__is_signed(T), long, unsigned long>>;
  return Wide(a) * Wide(b);
}
template <class T>
METAL_FUNC T mad_lo(T a, T b, T c) {
  return T(a * b + c);
}
template <class T>
METAL_FUNC T mad_hi(T a, T b, T c) {
  return T(mul_hi(a, b) + c);
}
template <class T, class C>
METAL_FUNC auto mad_wide(T a, T b, C c) {
  return mul_wide(a, b) + c;
}
template <class T>
METAL_FUNC T smaller(T a, T b) {
  if constexpr (__is_same(T, float))
    return __builtin_fminf(a, b);
  else if constexpr (__is_same(T, double))
    return __builtin_fmin(a, b);
  else if constexpr (__is_same(T, f16) || __is_same(T, bf16))
    return __hmin(a, b);
  else if constexpr (__is_same(T, f16x2) || __is_same(T, bf16x2))
    return __hmin2(a, b);
  else
    return b < a ? b : a;
}
template <class T>
METAL_FUNC T larger(T a, T b) {
  if constexpr (__is_same(T, float))
    return __builtin_fmaxf(a, b);
  else if constexpr (__is_same(T, double))
    return __builtin_fmax(a, b);
  else if constexpr (__is_same(T, f16) || __is_same(T, bf16))
    return __hmax(a, b);
  else if constexpr (__is_same(T, f16x2) || __is_same(T, bf16x2))
    return __hmax2(a, b);
  else
    return a < b ? b : a;
}
template <class T>
METAL_FUNC T min(T a, T b) {
  return smaller(a, b);
}
template <class T>
METAL_FUNC T max(T a, T b) {
  return larger(a, b);
}
template <class T>
METAL_FUNC T fma(T a, T b, T c) {
  if constexpr (__is_same(T, float))
    return __builtin_fmaf(a, b, c);
  else if constexpr (__is_same(T, double))
    return __builtin_fma(a, b, c);
  else if constexpr (sizeof(T) == 2)
    return __hfma(a, b, c);
  else
    return __hfma2(a, b, c);
}
template <class T>
METAL_FUNC T mad(T a, T b, T c) {
  return fma(a, b, c);
}
template <class T>
METAL_FUNC T relu(T a) {
  return larger(a, T{});
}
METAL_FUNC float saturate(float a) { return __saturatef(a); }
METAL_FUNC f16 saturate(f16 a) { return f16(__saturatef(a.f())); }

template <class T>
METAL_FUNC T neg(T a) {
  return T(-a);
}
template <class T>
METAL_FUNC T abs(T a) {
  if constexpr (__is_same(T, f16) || __is_same(T, bf16))
    return __habs(a);
  else if constexpr (__is_same(T, f16x2) || __is_same(T, bf16x2))
    return __habs2(a);
  else if constexpr (__is_same(T, float))
    return fabsf(a);
  else if constexpr (__is_same(T, double))
    return fabs(a);
  else
    return a < 0 ? T(-a) : a;
}
template <class T>
METAL_FUNC T not_(T a) {
  if constexpr (__is_same(T, bool))
    return !a;
  else
    return T(~a);
}
template <class T>
METAL_FUNC T mov(T a) {
  return a;
}
/// Bits that are shifted out are gone, and so is everything from the width on.
template <class T>
METAL_FUNC T shl(T a, u32 n) {
  return n >= 8 * sizeof(T) ? T(0) : T(a << n);
}
template <class T>
METAL_FUNC T shr(T a, u32 n) {
  if (n >= 8 * sizeof(T)) return __is_signed(T) && a < 0 ? T(-1) : T(0);
  return T(a >> n);
}
template <class T>
METAL_FUNC T selp(T a, T b, bool which) {
  return which ? a : b;
}

}  // namespace ks::ptx

#include "ks_cuda_mma.h"
#include "ks_cuda_ptx_float.h"
#include "ks_cuda_ptx_lanes.h"
#include "ks_cuda_ptx_memory.h"
