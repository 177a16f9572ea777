// The functions of cuda_fp16.h and cuda_bf16.h.
#pragma once

// Conversions, whose names hold the type's name.
#define KS_SMALL_CONVERT(H, to, H2, from_float, to_float, pair)                                  \
  METAL_FUNC constexpr H from_float(float x) { return H(x); }                                    \
  METAL_FUNC constexpr H from_float##_rn(float x) { return H(x); }                               \
  METAL_FUNC H from_float##_rz(float x) { return ks::step_to(x, H(x), ks::Round::zero); }        \
  METAL_FUNC H from_float##_ru(float x) { return ks::step_to(x, H(x), ks::Round::up); }          \
  METAL_FUNC H from_float##_rd(float x) { return ks::step_to(x, H(x), ks::Round::down); }        \
  METAL_FUNC constexpr H __double2##to(double x) { return H(x); }                                \
  METAL_FUNC constexpr float to_float(H x) { return x.f(); }                                     \
  METAL_FUNC constexpr H2 from_float##2_rn(float x) { return {H(x), H(x)}; }                     \
  METAL_FUNC constexpr H2 __floats2##to##2_rn(float x, float y) { return {H(x), H(y)}; }         \
  METAL_FUNC constexpr H2 __float22##to##2_rn(float2 v) { return {H(v.x), H(v.y)}; }             \
  METAL_FUNC constexpr H __low2##to(H2 v) { return v.x; }                                        \
  METAL_FUNC constexpr H __high2##to(H2 v) { return v.y; }                                       \
  METAL_FUNC constexpr H2 __low2##to##2(H2 v) { return {v.x, v.x}; }                             \
  METAL_FUNC constexpr H2 __high2##to##2(H2 v) { return {v.y, v.y}; }                            \
  METAL_FUNC constexpr H2 __lows2##to##2(H2 a, H2 b) { return {a.x, b.x}; }                      \
  METAL_FUNC constexpr H2 __highs2##to##2(H2 a, H2 b) { return {a.y, b.y}; }                     \
  METAL_FUNC constexpr H __int2##to##_rn(int x) { return H(x); }                                 \
  METAL_FUNC constexpr H __int2##to##_rz(int x) { return H(x); }                                 \
  METAL_FUNC constexpr H __uint2##to##_rn(unsigned x) { return H(x); }                           \
  METAL_FUNC constexpr H __short2##to##_rn(short x) { return H(x); }                             \
  METAL_FUNC constexpr H __ushort2##to##_rn(unsigned short x) { return H(x); }                   \
  METAL_FUNC constexpr H __ll2##to##_rn(long long x) { return H(x); }                            \
  METAL_FUNC int __##to##2int_rn(H x) { return __float2int_rn(x.f()); }                          \
  METAL_FUNC int __##to##2int_rz(H x) { return __float2int_rz(x.f()); }                          \
  METAL_FUNC int __##to##2int_ru(H x) { return __float2int_ru(x.f()); }                          \
  METAL_FUNC int __##to##2int_rd(H x) { return __float2int_rd(x.f()); }                          \
  METAL_FUNC unsigned __##to##2uint_rn(H x) { return __float2uint_rn(x.f()); }                   \
  METAL_FUNC unsigned __##to##2uint_rz(H x) { return __float2uint_rz(x.f()); }                   \
  METAL_FUNC short __##to##2short_rn(H x) { return short(__float2int_rn(x.f())); }               \
  METAL_FUNC short __##to##2short_rz(H x) { return short(__float2int_rz(x.f())); }               \
  METAL_FUNC constexpr unsigned short __##to##_as_ushort(H x) {                                  \
    return __builtin_bit_cast(unsigned short, x);                                                \
  }                                                                                              \
  METAL_FUNC constexpr short __##to##_as_short(H x) { return __builtin_bit_cast(short, x); }     \
  METAL_FUNC constexpr H __ushort_as_##to(unsigned short x) { return __builtin_bit_cast(H, x); } \
  METAL_FUNC constexpr H __short_as_##to(short x) { return __builtin_bit_cast(H, x); }           \
  METAL_FUNC constexpr H2 pair(H x, H y) { return {x, y}; }                                      \
  METAL_FUNC constexpr H2 __halves2##to##2(H x, H y) { return {x, y}; }
KS_SMALL_CONVERT(__half, half, __half2, __float2half, __half2float, make_half2)
KS_SMALL_CONVERT(__nv_bfloat16, bfloat16, __nv_bfloat162, __float2bfloat16, __bfloat162float,
                 make_bfloat162)
#undef KS_SMALL_CONVERT
METAL_FUNC constexpr __half2 __half2half2(__half x) { return {x, x}; }
METAL_FUNC constexpr __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
METAL_FUNC constexpr float2 __half22float2(__half2 v) { return {v.x.f(), v.y.f()}; }
METAL_FUNC constexpr float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x.f(), v.y.f()}; }
METAL_FUNC constexpr __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
METAL_FUNC constexpr __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }

// The rest are overloads for both.
#define KS_BOTH(name, H, H2, expression)                \
  METAL_FUNC H name(H a, H b) { return H(expression); } \
  METAL_FUNC H2 name##2(H2 v, H2 w) { return {name(v.x, w.x), name(v.y, w.y)}; }
#define KS_BOTH_LIST(H, H2)                                                                       \
  KS_BOTH(__hadd, H, H2, a.f() + b.f())                                                           \
  KS_BOTH(__hsub, H, H2, a.f() - b.f())                                                           \
  KS_BOTH(__hmul, H, H2, a.f() * b.f())                                                           \
  KS_BOTH(__hmax, H, H2, __builtin_fmaxf(a.f(), b.f()))                                           \
  KS_BOTH(__hmin, H, H2, __builtin_fminf(a.f(), b.f()))                                           \
  METAL_FUNC H __hadd_rn(H a, H b) { return __hadd(a, b); }                                       \
  METAL_FUNC H __hsub_rn(H a, H b) { return __hsub(a, b); }                                       \
  METAL_FUNC H __hmul_rn(H a, H b) { return __hmul(a, b); }                                       \
  METAL_FUNC H2 __hadd2_rn(H2 a, H2 b) { return __hadd2(a, b); }                                  \
  METAL_FUNC H2 __hsub2_rn(H2 a, H2 b) { return __hsub2(a, b); }                                  \
  METAL_FUNC H2 __hmul2_rn(H2 a, H2 b) { return __hmul2(a, b); }                                  \
  METAL_FUNC H __hadd_sat(H a, H b) { return H(__saturatef(a.f() + b.f())); }                     \
  METAL_FUNC H __hsub_sat(H a, H b) { return H(__saturatef(a.f() - b.f())); }                     \
  METAL_FUNC H __hmul_sat(H a, H b) { return H(__saturatef(a.f() * b.f())); }                     \
  METAL_FUNC H __hmax_nan(H a, H b) {                                                             \
    return isnan(a.f()) || isnan(b.f()) ? H(__builtin_nanf("")) : __hmax(a, b);                   \
  }                                                                                               \
  METAL_FUNC H __hmin_nan(H a, H b) {                                                             \
    return isnan(a.f()) || isnan(b.f()) ? H(__builtin_nanf("")) : __hmin(a, b);                   \
  }                                                                                               \
  METAL_FUNC H __hdiv(H a, H b) { return H(a.f() / b.f()); }                                      \
  METAL_FUNC H2 __h2div(H2 v, H2 w) { return {__hdiv(v.x, w.x), __hdiv(v.y, w.y)}; }              \
  METAL_FUNC H __hfma(H a, H b, H c) { return H(double(a.f()) * double(b.f()) + double(c.f())); } \
  METAL_FUNC H2 __hfma2(H2 a, H2 b, H2 c) {                                                       \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                        \
  }                                                                                               \
  METAL_FUNC H __hfma_relu(H a, H b, H c) { return __hmax(__hfma(a, b, c), H(0.0f)); }            \
  METAL_FUNC H __hfma_sat(H a, H b, H c) { return H(__saturatef(__hfma(a, b, c).f())); }          \
  METAL_FUNC H2 __hfma2_relu(H2 a, H2 b, H2 c) {                                                  \
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                              \
  }                                                                                               \
  METAL_FUNC H __hneg(H a) { return H(-a.f()); }                                                  \
  METAL_FUNC H __habs(H a) { return H(fabsf(a.f())); }                                            \
  METAL_FUNC H2 __hneg2(H2 v) { return {__hneg(v.x), __hneg(v.y)}; }                              \
  METAL_FUNC H2 __habs2(H2 v) { return {__habs(v.x), __habs(v.y)}; }                              \
  METAL_FUNC bool __hisnan(H a) { return isnan(a.f()); }                                          \
  METAL_FUNC int __hisinf(H a) { return isinf(a.f()) ? (a.f() < 0 ? -1 : 1) : 0; }                \
  METAL_FUNC H2 __hisnan2(H2 v) {                                                                 \
    return {H(isnan(v.x.f()) ? 1.0f : 0.0f), H(isnan(v.y.f()) ? 1.0f : 0.0f)};                    \
  }                                                                                               \
  METAL_FUNC float __low2float(H2 v) { return v.x.f(); }                                          \
  METAL_FUNC float __high2float(H2 v) { return v.y.f(); }                                         \
  KS_BOTH_COMPARE(eq, ==, H, H2)                                                                  \
  KS_BOTH_COMPARE(ne, !=, H, H2)                                                                  \
  KS_BOTH_COMPARE(lt, <, H, H2)                                                                   \
  KS_BOTH_COMPARE(le, <=, H, H2)                                                                  \
  KS_BOTH_COMPARE(gt, >, H, H2)                                                                   \
  KS_BOTH_COMPARE(ge, >=, H, H2)                                                                  \
  KS_BOTH_MATH(exp, expf(x), H, H2)                                                               \
  KS_BOTH_MATH(exp2, exp2f(x), H, H2)                                                             \
  KS_BOTH_MATH(exp10, exp10f(x), H, H2)                                                           \
  KS_BOTH_MATH(log, logf(x), H, H2)                                                               \
  KS_BOTH_MATH(log2, log2f(x), H, H2)                                                             \
  KS_BOTH_MATH(log10, log10f(x), H, H2)                                                           \
  KS_BOTH_MATH(sin, sinf(x), H, H2)                                                               \
  KS_BOTH_MATH(cos, cosf(x), H, H2)                                                               \
  KS_BOTH_MATH(sqrt, sqrtf(x), H, H2)                                                             \
  KS_BOTH_MATH(rsqrt, rsqrtf(x), H, H2)                                                           \
  KS_BOTH_MATH(rcp, 1.0f / x, H, H2)                                                              \
  KS_BOTH_MATH(tanh, tanhf(x), H, H2)                                                             \
  KS_BOTH_MATH(floor, floorf(x), H, H2)                                                           \
  KS_BOTH_MATH(ceil, ceilf(x), H, H2)                                                             \
  KS_BOTH_MATH(trunc, truncf(x), H, H2)                                                           \
  KS_BOTH_MATH(rint, rintf(x), H, H2)
#define KS_BOTH_COMPARE(name, op, H, H2)                                                    \
  METAL_FUNC bool __h##name(H a, H b) { return a.f() op b.f(); }                            \
  METAL_FUNC bool __h##name##u(H a, H b) {                                                  \
    return isnan(a.f()) || isnan(b.f()) || a.f() op b.f();                                  \
  }                                                                                         \
  METAL_FUNC H2 __h##name##2(H2 v, H2 w) {                                                  \
    return {H(__h##name(v.x, w.x) ? 1.0f : 0.0f), H(__h##name(v.y, w.y) ? 1.0f : 0.0f)};    \
  }                                                                                         \
  METAL_FUNC unsigned __h##name##2_mask(H2 v, H2 w) {                                       \
    return (__h##name(v.x, w.x) ? 0xffffu : 0u) | (__h##name(v.y, w.y) ? 0xffff0000u : 0u); \
  }                                                                                         \
  METAL_FUNC bool __hb##name##2(H2 v, H2 w) { return __h##name(v.x, w.x) && __h##name(v.y, w.y); }
#define KS_BOTH_MATH(name, expression, H, H2) \
  METAL_FUNC H h##name(H a) {                 \
    const float x = a.f();                    \
    return H(expression);                     \
  }                                           \
  METAL_FUNC H2 h2##name(H2 v) { return {h##name(v.x), h##name(v.y)}; }
KS_BOTH_LIST(__half, __half2)
KS_BOTH_LIST(__nv_bfloat16, __nv_bfloat162)
#undef KS_BOTH
#undef KS_BOTH_LIST
#undef KS_BOTH_COMPARE
#undef KS_BOTH_MATH
