// fast:: and precise:: functions. precise:: are the functions themselves. fast:: are computed by
// the formulas that the language's specification gives (tanh by t = exp(2 x), pow by exp2 of a
// product,
// ...), so that where those overflow or lose digits a kernel shows it here too; results that are
// subnormal are flushed to zero.
#pragma once
#include "ks_integer.h"

namespace ks {

METAL_FUNC float flush(float x) {
  return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x;
}
METAL_FUNC float fast_exp2(float x) { return flush(__builtin_exp2f(x)); }
METAL_FUNC float fast_exp(float x) { return fast_exp2(x * 1.44269504088896340736f); }
METAL_FUNC float fast_log2(float x) { return __builtin_log2f(flush(x)); }
METAL_FUNC float fast_log(float x) { return fast_log2(x) * 0.693147180559945309417f; }
METAL_FUNC float fast_rsqrt(float x) { return 1.0f / __builtin_sqrtf(flush(x)); }
METAL_FUNC float fast_sqrt(float x) {
  return flush(x) == 0.0f || __builtin_isinf(x) ? __builtin_sqrtf(flush(x)) : x * fast_rsqrt(x);
}
METAL_FUNC float fast_powr(float x, float y) { return fast_exp2(y * fast_log2(x)); }
/// A negative base has a whole exponent.
METAL_FUNC float fast_pow(float x, float y) {
  if (y == 0.0f) return 1.0f;
  const float r = fast_powr(__builtin_fabsf(x), y);
  if (x >= 0.0f) return r;
  if (__builtin_truncf(y) != y) return __builtin_nanf("");
  return __builtin_fmodf(y, 2.0f) != 0.0f ? -r : r;
}
METAL_FUNC float fast_tanh(float x) {
  const float t = fast_exp(2.0f * x);
  return (t - 1.0f) / (t + 1.0f);
}
METAL_FUNC float fast_divide(float x, float y) { return flush(x * (1.0f / flush(y))); }

}  // namespace ks

namespace metal {

// What fast:: has a formula of its own for; all others are the functions themselves.
#define KS_FAST_1_LIST(X)                                 \
  X(exp, ks::fast_exp(x))                                 \
  X(exp2, ks::fast_exp2(x))                               \
  X(exp10, ks::fast_exp2(x * 3.32192809488736234787f))    \
  X(log, ks::fast_log(x))                                 \
  X(log2, ks::fast_log2(x))                               \
  X(log10, ks::fast_log2(x) * 0.301029995663981195214f)   \
  X(sqrt, ks::fast_sqrt(x))                               \
  X(rsqrt, ks::fast_rsqrt(x))                             \
  X(sin, __builtin_sinf(x))                               \
  X(cos, __builtin_cosf(x))                               \
  X(tan, __builtin_sinf(x) * (1.0f / __builtin_cosf(x)))  \
  X(sinh, 0.5f * (ks::fast_exp(x) - ks::fast_exp(-x)))    \
  X(cosh, 0.5f * (ks::fast_exp(x) + ks::fast_exp(-x)))    \
  X(tanh, ks::fast_tanh(x))                               \
  X(asinh, ks::fast_log(x + ks::fast_sqrt(x * x + 1.0f))) \
  X(acosh, ks::fast_log(x + ks::fast_sqrt(x * x - 1.0f))) \
  X(atanh, 0.5f * ks::fast_log((1.0f + x) * (1.0f / (1.0f - x))))
#define KS_FAST_2_LIST(X)      \
  X(pow, ks::fast_pow(x, y))   \
  X(powr, ks::fast_powr(x, y)) \
  X(divide, ks::fast_divide(x, y))
// It comes to no rest on this list.
// clang-format off
#define KS_SAME_LIST(X) \
  X(asin) X(acos) X(atan) X(sinpi) X(cospi) X(tanpi) X(floor) X(ceil) X(trunc) X(rint) X(round) \
  X(fabs) X(fract) X(saturate) X(sign) X(atan2) X(fmod) X(fmin) X(fmax) X(fdim) X(copysign) \
  X(nextafter) X(step) X(abs) X(clamp) X(fma) X(isnan) X(isinf) X(isfinite) X(isnormal) \
  X(isordered) X(isunordered) X(signbit) X(max) X(min) X(max3) X(min3) X(median3) X(fmax3) \
  X(fmin3) X(fmedian3) X(mix) X(smoothstep) X(modf) X(frexp) X(ldexp) X(ilogb) X(select) X(dot) \
  X(length) X(length_squared) X(distance) X(distance_squared) X(normalize) X(cross) X(reflect) \
  X(refract) X(faceforward)
// clang-format on

namespace fast {
KS_FAST_1_LIST(KS_FLOAT_1)
KS_FAST_2_LIST(KS_FLOAT_2)
#define KS_USING(name, ...) using metal::name;
KS_SAME_LIST(KS_USING)
template <class T>
METAL_FUNC T sincos(T x, T& cosine) {
  cosine = fast::cos(x);
  return fast::sin(x);
}
}  // namespace fast

namespace precise {
KS_FLOAT_1_LIST(KS_USING)
KS_FLOAT_2_LIST(KS_USING)
KS_SAME_LIST(KS_USING)
using metal::sincos;
#undef KS_USING
}  // namespace precise

}  // namespace metal
