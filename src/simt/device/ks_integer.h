// Functions of Metal on integers and on both integers and floats (min, max, abs, clamp).
#pragma once
#include "ks_math.h"

namespace metal {

#define KS_ORDER(name, float_function, comparison)                                               \
  template <class A, class B>                                                                    \
  requires(is_arithmetic_v<A> && is_arithmetic_v<B>) METAL_FUNC constexpr ks::common<A, B> name( \
      A a, B b) {                                                                                \
    using T = ks::common<A, B>;                                                                  \
    if constexpr (is_floating_point_v<T>)                                                        \
      return T(float_function(float(a), float(b)));                                              \
    else                                                                                         \
      return T(b) comparison T(a) ? T(b) : T(a);                                                 \
  }                                                                                              \
  KS_VECTOR_FORMS_2(name)                                                                        \
  template <class A, class B, class C>                                                           \
  METAL_FUNC auto name##3(A a, B b, C c) {                                                       \
    return name(name(a, b), c);                                                                  \
  }
KS_ORDER(min, __builtin_fminf, <)
KS_ORDER(max, __builtin_fmaxf, >)
#undef KS_ORDER

template <class A, class B, class C>
METAL_FUNC auto median3(A a, B b, C c) {
  return max(min(a, b), min(max(a, b), c));
}
template <class A, class B, class C>
METAL_FUNC auto clamp(A x, B low, C high) {
  return min(max(x, low), high);
}
template <class T>
requires(is_arithmetic_v<T>) METAL_FUNC T abs(T x) {
  if constexpr (is_floating_point_v<T>)
    return T(__builtin_fabsf(float(x)));
  else
    return x < T(0) ? T(-x) : x;
}
KS_VECTOR_FORM_1(abs, T)

#define KS_INTEGER_1(name, expression)                    \
  template <class T>                                      \
  requires(is_integral_v<T>) METAL_FUNC T name(T value) { \
    using U = __make_unsigned(T);                         \
    constexpr int kBits = int(8 * sizeof(T));             \
    const U x = U(value);                                 \
    return T(expression);                                 \
  }                                                       \
  KS_VECTOR_FORM_1(name, T)
KS_INTEGER_1(popcount, __builtin_popcountl(x))
KS_INTEGER_1(clz, x == 0 ? kBits : __builtin_clzl(x) - (64 - kBits))
KS_INTEGER_1(ctz, x == 0 ? kBits : __builtin_ctzl(x))
KS_INTEGER_1(reverse_bits, __builtin_bitreverse64(x) >> (64 - kBits))

// Of two integers of one type; U is it without a sign.
#define KS_INTEGER_2(name, expression)                     \
  template <class T>                                       \
  requires(is_integral_v<T>) METAL_FUNC T name(T a, T b) { \
    using U = __make_unsigned(T);                          \
    constexpr int kBits = int(8 * sizeof(T));              \
    return T(expression);                                  \
  }                                                        \
  KS_VECTOR_FORMS_2(name)
KS_INTEGER_2(absdiff, a > b ? U(a) - U(b) : U(b) - U(a))
KS_INTEGER_2(mulhi, (__int128(a) * __int128(b)) >> kBits)
KS_INTEGER_2(mul24, __int128(a) * __int128(b))
KS_INTEGER_2(hadd, (__int128(a) + __int128(b)) >> 1)
KS_INTEGER_2(rhadd, (__int128(a) + __int128(b) + 1) >> 1)

template <class T>
requires(is_integral_v<T>) METAL_FUNC T rotate(T value, T by) {
  using U = __make_unsigned(T);
  constexpr int kBits = int(8 * sizeof(T));
  const int n = int(U(by) % U(kBits));
  const U x = U(value);
  return T(n == 0 ? x : U(U(x << n) | U(x >> (kBits - n))));
}
template <class T>
requires(is_integral_v<T>) METAL_FUNC T addsat(T a, T b) {
  T r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return b < T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();
}
template <class T>
requires(is_integral_v<T>) METAL_FUNC T subsat(T a, T b) {
  T r;
  if (!__builtin_sub_overflow(a, b, &r)) return r;
  return b > T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();
}
template <class T>
METAL_FUNC T madhi(T a, T b, T c) {
  return T(mulhi(a, b) + c);
}
template <class T>
METAL_FUNC T mad24(T a, T b, T c) {
  return T(mul24(a, b) + c);
}
/// `bits` bits from bit `offset` on; the sign is kept for signed types.
template <class T>
requires(is_integral_v<T>) METAL_FUNC T extract_bits(T value, uint offset, uint bits) {
  constexpr uint kBits = uint(8 * sizeof(T));
  if (bits == 0) return T(0);
  return T(T(make_unsigned_t<T>(value) << (kBits - bits - offset)) >> (kBits - bits));
}
template <class T>
requires(is_integral_v<T>) METAL_FUNC T insert_bits(T base, T insert, uint offset, uint bits) {
  using U = __make_unsigned(T);
  constexpr uint kBits = uint(8 * sizeof(T));
  if (bits == 0) return base;
  const U mask = U(U(U(~U(0)) >> (kBits - bits)) << offset);
  return T((U(base) & U(~mask)) | (U(U(insert) << offset) & mask));
}

}  // namespace metal
