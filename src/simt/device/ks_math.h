// Floating-point functions of Metal, for scalars and vectors of float, half and bfloat. Computed in
// float and rounded once. Without a namespace and as precise:: they are those of precise
// mathematics; fast:: has its own in ks_fast_math.h.
#pragma once
#include "ks_matrix.h"

namespace ks {
template <class T>
struct FloatOf {
  using type = float;
};
template <>
struct FloatOf<half> {
  using type = half;
};
template <>
struct FloatOf<bfloat> {
  using type = bfloat;
};
template <class T>
using float_of = typename FloatOf<__remove_cv(T)>::type;

/// What `c ? a : b` has: an integer takes the type of the float beside it.
template <class A, class B>
struct Common {
  using type = decltype(true ? A() : B());
};
template <class A>
struct Common<A, A> {
  using type = A;
};
template <class A, class B>
using common = typename Common<__remove_cv(A), __remove_cv(B)>::type;
}  // namespace ks

namespace metal {

#define KS_EACH(T, n, expression)                     \
  vec<T, n> r;                                        \
  for (int i = 0; i < n; ++i) r.e[i] = T(expression); \
  return r;
// The forms for vectors of a function of scalars: each component by itself; a scalar beside a
// vector counts for all of them.
#define KS_VECTOR_FORM_1(name, R)                       \
  template <class T, int n>                             \
  METAL_FUNC auto name(const vec<T, n>& v)->vec<R, n> { \
    KS_EACH(R, n, name(v.e[i]))                         \
  }
#define KS_VECTOR_FORMS_2(name)                                                     \
  template <class T, int n>                                                         \
  METAL_FUNC vec<T, n> name(const vec<T, n>& a, const vec<T, n>& b) {               \
    KS_EACH(T, n, name(a.e[i], b.e[i]))                                             \
  }                                                                                 \
  template <class T, int n, class U>                                                \
  requires(is_arithmetic_v<U>) METAL_FUNC vec<T, n> name(const vec<T, n>& a, U b) { \
    return name(a, vec<T, n>(b));                                                   \
  }                                                                                 \
  template <class T, int n, class U>                                                \
  requires(is_arithmetic_v<U>) METAL_FUNC vec<T, n> name(U a, const vec<T, n>& b) { \
    return name(vec<T, n>(a), b);                                                   \
  }

// Functions of one value: `expression` in the float x.
#define KS_FLOAT_1(name, expression)                                      \
  template <class T>                                                      \
  requires(is_arithmetic_v<T>) METAL_FUNC ks::float_of<T> name(T value) { \
    const float x = float(value);                                         \
    return ks::float_of<T>(expression);                                   \
  }                                                                       \
  KS_VECTOR_FORM_1(name, T)
#define KS_FLOAT_1_LIST(X)                                           \
  X(exp, __builtin_expf(x))                                          \
  X(exp2, __builtin_exp2f(x))                                        \
  X(exp10, __builtin_powf(10.0f, x))                                 \
  X(log, __builtin_logf(x))                                          \
  X(log2, __builtin_log2f(x))                                        \
  X(log10, __builtin_log10f(x))                                      \
  X(sqrt, __builtin_sqrtf(x))                                        \
  X(rsqrt, 1.0f / __builtin_sqrtf(x))                                \
  X(sin, __builtin_sinf(x))                                          \
  X(cos, __builtin_cosf(x))                                          \
  X(tan, __builtin_tanf(x))                                          \
  X(asin, __builtin_asinf(x))                                        \
  X(acos, __builtin_acosf(x))                                        \
  X(atan, __builtin_atanf(x))                                        \
  X(sinh, __builtin_sinhf(x))                                        \
  X(cosh, __builtin_coshf(x))                                        \
  X(tanh, __builtin_tanhf(x))                                        \
  X(asinh, __builtin_asinhf(x))                                      \
  X(acosh, __builtin_acoshf(x))                                      \
  X(atanh, __builtin_atanhf(x))                                      \
  X(sinpi, __builtin_sin(3.141592653589793 * double(x)))             \
  X(cospi, __builtin_cos(3.141592653589793 * double(x)))             \
  X(tanpi, __builtin_tan(3.141592653589793 * double(x)))             \
  X(floor, __builtin_floorf(x))                                      \
  X(ceil, __builtin_ceilf(x))                                        \
  X(trunc, __builtin_truncf(x))                                      \
  X(rint, __builtin_rintf(x))                                        \
  X(round, __builtin_roundf(x))                                      \
  X(fabs, __builtin_fabsf(x))                                        \
  X(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f)) \
  X(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))       \
  X(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f)
KS_FLOAT_1_LIST(KS_FLOAT_1)

// Functions of two values.
#define KS_FLOAT_2(name, expression)                                                           \
  template <class A, class B>                                                                  \
  requires(is_arithmetic_v<A> && is_arithmetic_v<B>) METAL_FUNC ks::float_of<ks::common<A, B>> \
  name(A a, B b) {                                                                             \
    const float x = float(a), y = float(b);                                                    \
    return ks::float_of<ks::common<A, B>>(expression);                                         \
  }                                                                                            \
  KS_VECTOR_FORMS_2(name)
#define KS_FLOAT_2_LIST(X)                                      \
  X(pow, __builtin_powf(x, y))                                  \
  X(powr, x < 0.0f ? __builtin_nanf("") : __builtin_powf(x, y)) \
  X(atan2, __builtin_atan2f(x, y))                              \
  X(fmod, __builtin_fmodf(x, y))                                \
  X(fmin, __builtin_fminf(x, y))                                \
  X(fmax, __builtin_fmaxf(x, y))                                \
  X(fdim, __builtin_fdimf(x, y))                                \
  X(copysign, __builtin_copysignf(x, y))                        \
  X(nextafter, __builtin_nextafterf(x, y))                      \
  X(divide, x / y)                                              \
  X(step, y < x ? 0.0f : 1.0f)
KS_FLOAT_2_LIST(KS_FLOAT_2)

template <class A, class B, class C>
requires(is_arithmetic_v<A>&& is_arithmetic_v<B>&& is_arithmetic_v<C>) METAL_FUNC
    auto fma(A a, B b, C c) {
  using T = ks::float_of<ks::common<ks::common<A, B>, C>>;
  return T(__builtin_fmaf(float(a), float(b), float(c)));
}
template <class T, int n>
METAL_FUNC vec<T, n> fma(const vec<T, n>& a, const vec<T, n>& b, const vec<T, n>& c) {
  KS_EACH(T, n, fma(a.e[i], b.e[i], c.e[i]))
}
template <class T>
METAL_FUNC T mix(T a, T b, T t) {
  return a + (b - a) * t;
}
template <class T, int n>
METAL_FUNC vec<T, n> mix(const vec<T, n>& a, const vec<T, n>& b, T t) {
  return a + (b - a) * t;
}
template <class T, int n>
METAL_FUNC vec<T, n> mix(const vec<T, n>& a, const vec<T, n>& b, const vec<T, n>& t) {
  return a + (b - a) * t;
}
template <class A, class B, class C>
METAL_FUNC auto fmin3(A a, B b, C c) {
  return fmin(fmin(a, b), c);
}
template <class A, class B, class C>
METAL_FUNC auto fmax3(A a, B b, C c) {
  return fmax(fmax(a, b), c);
}
template <class A, class B, class C>
METAL_FUNC auto fmedian3(A a, B b, C c) {
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}
template <class T>
requires(is_arithmetic_v<T>) METAL_FUNC T smoothstep(T low, T high, T x) {
  const T t = T(saturate((x - low) / (high - low)));
  return t * t * (T(3) - T(2) * t);
}
template <class T, int n>
METAL_FUNC vec<T, n> smoothstep(const vec<T, n>& low, const vec<T, n>& high, const vec<T, n>& x) {
  KS_EACH(T, n, smoothstep(low.e[i], high.e[i], x.e[i]))
}

// Functions with a second result, which they write.
template <class T>
requires(is_floating_point_v<T>) METAL_FUNC T modf(T x, T& whole) {
  whole = trunc(x);
  return T(x - whole);
}
template <class T>
requires(is_floating_point_v<T>) METAL_FUNC T sincos(T x, T& cosine) {
  cosine = cos(x);
  return sin(x);
}
template <class T>
requires(is_floating_point_v<T>) METAL_FUNC T frexp(T x, int& exponent) {
  return T(__builtin_frexpf(float(x), &exponent));
}
#define KS_VECTOR_FORM_WRITES(name, R)                               \
  template <class T, int n>                                          \
  METAL_FUNC vec<T, n> name(const vec<T, n>& x, vec<R, n>& second) { \
    KS_EACH(T, n, name(x.e[i], second.e[i]))                         \
  }
KS_VECTOR_FORM_WRITES(modf, T)
KS_VECTOR_FORM_WRITES(sincos, T)
KS_VECTOR_FORM_WRITES(frexp, int)
template <class T>
requires(is_floating_point_v<T>) METAL_FUNC T ldexp(T x, int exponent) {
  return T(__builtin_ldexpf(float(x), exponent));
}
template <class T, int n>
METAL_FUNC vec<T, n> ldexp(const vec<T, n>& x, const vec<int, n>& exponent) {
  KS_EACH(T, n, ldexp(x.e[i], exponent.e[i]))
}
template <class T>
requires(is_floating_point_v<T>) METAL_FUNC int ilogb(T x) { return __builtin_ilogbf(float(x)); }
KS_VECTOR_FORM_1(ilogb, int)

// Properties of a value, and choices.
#define KS_PROPERTY(name, expression)                          \
  template <class T>                                           \
  requires(is_arithmetic_v<T>) METAL_FUNC bool name(T value) { \
    const float x = float(value);                              \
    return expression;                                         \
  }                                                            \
  KS_VECTOR_FORM_1(name, bool)
KS_PROPERTY(isnan, __builtin_isnan(x))
KS_PROPERTY(isinf, __builtin_isinf(x) != 0)
KS_PROPERTY(isfinite, __builtin_isfinite(x) != 0)
KS_PROPERTY(isnormal, __builtin_isnormal(x) != 0)
KS_PROPERTY(signbit, __builtin_signbit(x) != 0)
template <class T>
requires(is_arithmetic_v<T>) METAL_FUNC bool isunordered(T a, T b) { return isnan(a) || isnan(b); }
template <class T>
requires(is_arithmetic_v<T>) METAL_FUNC bool isordered(T a, T b) { return !isunordered(a, b); }
template <class T, int n>
METAL_FUNC vec<bool, n> isunordered(const vec<T, n>& a, const vec<T, n>& b) {
  KS_EACH(bool, n, isunordered(a.e[i], b.e[i]))
}
template <class T, int n>
METAL_FUNC vec<bool, n> isordered(const vec<T, n>& a,
                                  const vec<T, n>& b){KS_EACH(bool, n, isordered(a.e[i], b.e[i]))}

METAL_FUNC bool any(bool value) {
  return value;
}
METAL_FUNC bool all(bool value) { return value; }
template <int n>
METAL_FUNC bool any(const vec<bool, n>& v) {
  bool r = false;
  for (int i = 0; i < n; ++i) r = r || v.e[i];
  return r;
}
template <int n>
METAL_FUNC bool all(const vec<bool, n>& v) {
  bool r = true;
  for (int i = 0; i < n; ++i) r = r && v.e[i];
  return r;
}
template <class T>
METAL_FUNC T select(T a, T b, bool choose_b) {
  return choose_b ? b : a;
}
template <class T, int n>
METAL_FUNC vec<T, n> select(const vec<T, n>& a, const vec<T, n>& b, const vec<bool, n>& choose_b) {
  KS_EACH(T, n, choose_b.e[i] ? b.e[i] : a.e[i])
}

// Geometry.
template <class T, int n>
METAL_FUNC T dot(const vec<T, n>& a, const vec<T, n>& b) {
  T r = T(a.e[0] * b.e[0]);
  for (int i = 1; i < n; ++i) r = T(r + a.e[i] * b.e[i]);
  return r;
}
template <class T, int n>
METAL_FUNC T length_squared(const vec<T, n>& a) {
  return dot(a, a);
}
template <class T, int n>
METAL_FUNC T length(const vec<T, n>& a) {
  return T(sqrt(dot(a, a)));
}
template <class T, int n>
METAL_FUNC T distance(const vec<T, n>& a, const vec<T, n>& b) {
  return length(a - b);
}
template <class T, int n>
METAL_FUNC T distance_squared(const vec<T, n>& a, const vec<T, n>& b) {
  return length_squared(a - b);
}
template <class T, int n>
METAL_FUNC vec<T, n> reflect(const vec<T, n>& ray, const vec<T, n>& normal) {
  return ray - normal * T(T(2) * dot(normal, ray));
}
template <class T, int n>
METAL_FUNC vec<T, n> refract(const vec<T, n>& ray, const vec<T, n>& normal, T eta) {
  const T d = dot(normal, ray), k = T(T(1) - eta * eta * (T(1) - d * d));
  return k < T(0) ? vec<T, n>(T(0)) : ray * eta - normal * T(eta * d + sqrt(k));
}
template <class T, int n>
METAL_FUNC vec<T, n> faceforward(const vec<T, n>& v, const vec<T, n>& ray,
                                 const vec<T, n>& reference) {
  return dot(reference, ray) < T(0) ? v : -v;
}
template <class T, int n>
METAL_FUNC vec<T, n> normalize(const vec<T, n>& a) {
  return a * T(rsqrt(dot(a, a)));
}
template <class T>
METAL_FUNC vec<T, 3> cross(const vec<T, 3>& a, const vec<T, 3>& b) {
  return vec<T, 3>(T(a.y * b.z - a.z * b.y), T(a.z * b.x - a.x * b.z), T(a.x * b.y - a.y * b.x));
}

}  // namespace metal
