// CUDA's mathematics of float, double and integers: the C functions, their overloads, and the
// intrinsics. Approximate ones (__expf) are the precise ones here.
#pragma once
#include "ks_cuda_types.h"

extern "C" {
void* memcpy(void*, const void*, size_t);
void* memset(void*, int, size_t);
void* memmove(void*, const void*, size_t);
}

// Names of libm: double NAME(double), float NAMEf(float); here also float NAME(float).
// It comes to no rest on this list.
// clang-format off
#define KS_MATH_1(X) \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(erf) \
  X(erfc) X(exp) X(exp2) X(exp10) X(expm1) X(fabs) X(floor) X(j0) X(j1) X(lgamma) X(log) \
  X(log10) X(log1p) X(log2) X(logb) X(nearbyint) X(rint) X(round) X(sin) X(sinh) X(sqrt) X(tan) \
  X(tanh) X(tgamma) X(trunc) X(y0) X(y1)
// clang-format on
#define KS_MATH_2(X) \
  X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)

#define KS_DECLARE(name)                                \
  extern "C" double name(double);                       \
  extern "C" float name##f(float);                      \
  METAL_FUNC float name(float x) { return name##f(x); } \
  template <class T>                                    \
  requires(__is_integral(T)) METAL_FUNC double name(T x) { return name(double(x)); }
KS_MATH_1(KS_DECLARE)
#undef KS_DECLARE
#define KS_DECLARE(name)                                                           \
  extern "C" double name(double, double);                                          \
  extern "C" float name##f(float, float);                                          \
  METAL_FUNC float name(float x, float y) { return name##f(x, y); }                \
  template <class A, class B>                                                      \
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !__is_same(A, B)) \
      METAL_FUNC double                                                            \
      name(A x, B y) {                                                             \
    return name(double(x), double(y));                                             \
  }                                                                                \
  template <class T>                                                               \
  requires(__is_integral(T)) METAL_FUNC double name(T x, T y) { return name(double(x), double(y)); }
KS_MATH_2(KS_DECLARE)
#undef KS_DECLARE
METAL_FUNC float pow(float x, int n) { return powf(x, float(n)); }
METAL_FUNC double pow(double x, int n) { return pow(x, double(n)); }

METAL_FUNC float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
METAL_FUNC double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
METAL_FUNC float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
METAL_FUNC float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
METAL_FUNC double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
METAL_FUNC float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
METAL_FUNC float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
METAL_FUNC int ilogbf(float x) { return __builtin_ilogbf(x); }
METAL_FUNC int ilogb(double x) { return __builtin_ilogb(x); }
METAL_FUNC long lrintf(float x) { return __builtin_lrintf(x); }
METAL_FUNC long lroundf(float x) { return __builtin_lroundf(x); }
METAL_FUNC long long llrintf(float x) { return __builtin_llrintf(x); }
METAL_FUNC long lrint(double x) { return __builtin_lrint(x); }
METAL_FUNC long lround(double x) { return __builtin_lround(x); }
METAL_FUNC float nanf(const char*) { return __builtin_nanf(""); }
METAL_FUNC double nan(const char*) { return __builtin_nan(""); }

#define KS_CLASS(T)                                                         \
  METAL_FUNC constexpr bool isnan(T x) { return __builtin_isnan(x); }       \
  METAL_FUNC constexpr bool isinf(T x) { return __builtin_isinf(x); }       \
  METAL_FUNC constexpr bool isfinite(T x) { return __builtin_isfinite(x); } \
  METAL_FUNC bool signbit(T x) { return __builtin_signbit(x); }
KS_CLASS(float)
KS_CLASS(double)
#undef KS_CLASS

METAL_FUNC float rsqrtf(float x) { return 1.0f / sqrtf(x); }
METAL_FUNC double rsqrt(double x) { return 1.0 / sqrt(x); }
METAL_FUNC float rsqrt(float x) { return rsqrtf(x); }
METAL_FUNC float rcbrtf(float x) { return 1.0f / cbrtf(x); }
METAL_FUNC float sinpif(float x) { return float(sin(3.141592653589793 * double(x))); }
METAL_FUNC float cospif(float x) { return float(cos(3.141592653589793 * double(x))); }
METAL_FUNC double sinpi(double x) { return sin(3.141592653589793 * x); }
METAL_FUNC double cospi(double x) { return cos(3.141592653589793 * x); }
METAL_FUNC void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
METAL_FUNC void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
METAL_FUNC void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
METAL_FUNC void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
METAL_FUNC float normcdff(float x) { return float(0.5 * erfc(-double(x) * 0.7071067811865476)); }
METAL_FUNC float erfcxf(float x) { return float(exp(double(x) * double(x)) * erfc(double(x))); }
METAL_FUNC float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
METAL_FUNC float norm4df(float a, float b, float c, float d) {
  return sqrtf(a * a + b * b + c * c + d * d);
}
METAL_FUNC float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
METAL_FUNC float fdividef(float a, float b) { return a / b; }
METAL_FUNC float fdivide(float a, float b) { return a / b; }
namespace ks {
// The C functions write through pointers without a word to the engine.
struct Fraction {
  double value;
  int exponent;
};
KS_PLAIN __attribute__((noinline)) inline Fraction fraction(double x) {
  int exponent = 0;
  const double value = __builtin_frexp(x, &exponent);
  return {value, exponent};
}
}  // namespace ks
METAL_FUNC double frexp(double x, int* exponent) {
  const ks::Fraction f = ks::fraction(x);
  *exponent = f.exponent;
  return f.value;
}
METAL_FUNC float frexpf(float x, int* exponent) { return float(frexp(double(x), exponent)); }
METAL_FUNC float frexp(float x, int* exponent) { return frexpf(x, exponent); }
METAL_FUNC float modff(float x, float* whole) {
  *whole = truncf(x);
  return copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
METAL_FUNC double modf(double x, double* whole) {
  *whole = trunc(x);
  return copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}

METAL_FUNC constexpr int abs(int x) { return x < 0 ? -x : x; }
METAL_FUNC constexpr long abs(long x) { return x < 0 ? -x : x; }
METAL_FUNC constexpr long long abs(long long x) { return x < 0 ? -x : x; }
METAL_FUNC constexpr float abs(float x) { return __builtin_fabsf(x); }
METAL_FUNC constexpr double abs(double x) { return __builtin_fabs(x); }
METAL_FUNC constexpr long labs(long x) { return abs(x); }
METAL_FUNC constexpr long long llabs(long long x) { return abs(x); }

#define KS_ORDER(T, A, B)                                                    \
  METAL_FUNC constexpr T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
  METAL_FUNC constexpr T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
KS_ORDER(int, int, int)
KS_ORDER(unsigned, unsigned, unsigned)
KS_ORDER(unsigned, int, unsigned)
KS_ORDER(unsigned, unsigned, int)
KS_ORDER(long, long, long)
KS_ORDER(unsigned long, unsigned long, unsigned long)
KS_ORDER(unsigned long, long, unsigned long)
KS_ORDER(unsigned long, unsigned long, long)
KS_ORDER(long long, long long, long long)
KS_ORDER(unsigned long long, unsigned long long, unsigned long long)
KS_ORDER(unsigned long long, long long, unsigned long long)
KS_ORDER(unsigned long long, unsigned long long, long long)
#undef KS_ORDER
#define KS_ORDER(T, A, B, f)                                           \
  METAL_FUNC T min(A a, B b) { return __builtin_fmin##f(T(a), T(b)); } \
  METAL_FUNC T max(A a, B b) { return __builtin_fmax##f(T(a), T(b)); }
KS_ORDER(float, float, float, f)
KS_ORDER(double, double, double, )
KS_ORDER(double, float, double, )
KS_ORDER(double, double, float, )
#undef KS_ORDER
METAL_FUNC constexpr unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
METAL_FUNC constexpr unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

namespace std {
#define KS_USE(name) using ::name;
KS_MATH_1(KS_USE)
KS_MATH_2(KS_USE)
#undef KS_USE
using ::abs;
using ::fma;
using ::frexp;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::memcpy;
using ::memset;
using ::modf;
using ::rsqrt;
using ::signbit;
}  // namespace std

// Intrinsics.
METAL_FUNC float __expf(float x) { return expf(x); }
METAL_FUNC float __exp10f(float x) { return exp10f(x); }
METAL_FUNC float __logf(float x) { return logf(x); }
METAL_FUNC float __log2f(float x) { return log2f(x); }
METAL_FUNC float __log10f(float x) { return log10f(x); }
METAL_FUNC float __sinf(float x) { return sinf(x); }
METAL_FUNC float __cosf(float x) { return cosf(x); }
METAL_FUNC float __tanf(float x) { return tanf(x); }
METAL_FUNC float __tanhf(float x) { return tanhf(x); }
METAL_FUNC float __powf(float x, float y) { return powf(x, y); }
METAL_FUNC void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
METAL_FUNC float __fdividef(float a, float b) { return a / b; }
METAL_FUNC float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
METAL_FUNC float __frsqrt_rn(float x) { return rsqrtf(x); }

namespace ks {
enum class Round { nearest, zero, up, down };
/// The exact value as a float, in this direction.
METAL_FUNC float rounded(double exact, Round how) {
  const float near = float(exact);
  const double back = double(near);
  if (how == Round::nearest || back == exact || __builtin_isnan(near)) return near;
  const bool lower = how == Round::down || (how == Round::zero && exact > 0);
  if (lower && back > exact) return nextafterf(near, -__builtin_inff());
  if (!lower && back < exact) return nextafterf(near, __builtin_inff());
  return near;
}
/// To an integer as the hardware does: clamped, NaN is 0.
template <class T>
METAL_FUNC T to_integer(double x) {
  if (__builtin_isnan(x)) return 0;
  if (x <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (x >= double(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return T(x);
}
}  // namespace ks

#define KS_ROUNDED(suffix, way)                                                                   \
  METAL_FUNC float __fadd_##suffix(float a, float b) {                                            \
    return ks::rounded(double(a) + double(b), ks::Round::way);                                    \
  }                                                                                               \
  METAL_FUNC float __fsub_##suffix(float a, float b) {                                            \
    return ks::rounded(double(a) - double(b), ks::Round::way);                                    \
  }                                                                                               \
  METAL_FUNC float __fmul_##suffix(float a, float b) {                                            \
    return ks::rounded(double(a) * double(b), ks::Round::way);                                    \
  }                                                                                               \
  METAL_FUNC float __fdiv_##suffix(float a, float b) {                                            \
    return ks::rounded(double(a) / double(b), ks::Round::way);                                    \
  }                                                                                               \
  METAL_FUNC float __frcp_##suffix(float a) {                                                     \
    return ks::rounded(1.0 / double(a), ks::Round::way);                                          \
  }                                                                                               \
  METAL_FUNC float __fsqrt_##suffix(float a) {                                                    \
    return ks::rounded(sqrt(double(a)), ks::Round::way);                                          \
  }                                                                                               \
  METAL_FUNC float __double2float_##suffix(double a) { return ks::rounded(a, ks::Round::way); }   \
  METAL_FUNC float __int2float_##suffix(int a) { return ks::rounded(double(a), ks::Round::way); } \
  METAL_FUNC float __uint2float_##suffix(unsigned a) {                                            \
    return ks::rounded(double(a), ks::Round::way);                                                \
  }
KS_ROUNDED(rn, nearest)
KS_ROUNDED(rz, zero)
KS_ROUNDED(ru, up)
KS_ROUNDED(rd, down)
#undef KS_ROUNDED
METAL_FUNC float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
METAL_FUNC float __fmaf_rz(float a, float b, float c) {
  return ks::rounded(double(a) * double(b) + double(c), ks::Round::zero);
}
METAL_FUNC double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
METAL_FUNC double __dadd_rn(double a, double b) { return a + b; }
METAL_FUNC double __dmul_rn(double a, double b) { return a * b; }
METAL_FUNC double __ddiv_rn(double a, double b) { return a / b; }
METAL_FUNC double __dsqrt_rn(double a) { return sqrt(a); }
METAL_FUNC float __ll2float_rn(long long a) { return float(a); }
METAL_FUNC float __ull2float_rn(unsigned long long a) { return float(a); }
METAL_FUNC double __int2double_rn(int a) { return a; }
METAL_FUNC double __uint2double_rn(unsigned a) { return a; }
METAL_FUNC double __ll2double_rn(long long a) { return double(a); }

#define KS_TO_INTEGER(suffix, function)                                                       \
  METAL_FUNC int __float2int_##suffix(float x) {                                              \
    return ks::to_integer<int>(function(double(x)));                                          \
  }                                                                                           \
  METAL_FUNC unsigned __float2uint_##suffix(float x) {                                        \
    return ks::to_integer<unsigned>(function(double(x)));                                     \
  }                                                                                           \
  METAL_FUNC long long __float2ll_##suffix(float x) {                                         \
    return ks::to_integer<long long>(function(double(x)));                                    \
  }                                                                                           \
  METAL_FUNC unsigned long long __float2ull_##suffix(float x) {                               \
    return ks::to_integer<unsigned long long>(function(double(x)));                           \
  }                                                                                           \
  METAL_FUNC int __double2int_##suffix(double x) { return ks::to_integer<int>(function(x)); } \
  METAL_FUNC unsigned __double2uint_##suffix(double x) {                                      \
    return ks::to_integer<unsigned>(function(x));                                             \
  }                                                                                           \
  METAL_FUNC long long __double2ll_##suffix(double x) {                                       \
    return ks::to_integer<long long>(function(x));                                            \
  }
KS_TO_INTEGER(rn, rint)
KS_TO_INTEGER(rz, trunc)
KS_TO_INTEGER(ru, ceil)
KS_TO_INTEGER(rd, floor)
#undef KS_TO_INTEGER

METAL_FUNC constexpr int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
METAL_FUNC constexpr unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
METAL_FUNC constexpr float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
METAL_FUNC constexpr float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
METAL_FUNC constexpr long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
METAL_FUNC constexpr double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}
METAL_FUNC constexpr int __double2hiint(double x) {
  return int(__builtin_bit_cast(unsigned long, x) >> 32);
}
METAL_FUNC constexpr int __double2loint(double x) {
  return int(__builtin_bit_cast(unsigned long, x));
}
METAL_FUNC constexpr double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long)(unsigned)high << 32 | (unsigned)low);
}
