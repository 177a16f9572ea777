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

// Lanes.
struct Picked {
  u32 source;
  bool valid;
};
/// Where shfl reads: the mode, and the operands b and c as PTX defines them.
METAL_FUNC Picked pick(int mode, u32 b, u32 c) {
  const u32 own = ks_lane_id(), segment = c >> 8 & 31u, clamp = c & 31u;
  const u32 last = (own & segment) | (clamp & ~segment), first = own & segment;
  b &= 31u;
  u32 from = own;
  bool valid = true;
  if (mode == 0) from = own - b, valid = int(own - b) >= int(last);
  if (mode == 1) from = own + b, valid = from <= last;
  if (mode == 2) from = own ^ b, valid = from <= last;
  if (mode == 3) from = first | (b & ~segment), valid = from <= last;
  return {valid ? from : own, valid};
}
METAL_FUNC u32 shfl(int mode, u32 value, u32 b, u32 c, u32 mask, bool* valid = nullptr) {
  const Picked picked = pick(mode, b, c);
  if (valid) *valid = picked.valid;
  return shuffle_from<u32>(mask, value, picked.source);
}
METAL_FUNC u32 meet_ballot(u32 mask, bool value) { return __ballot_sync(mask, value); }
METAL_FUNC bool meet_any(u32 mask, bool value) { return __any_sync(mask, value); }
METAL_FUNC bool meet_all(u32 mask, bool value) { return __all_sync(mask, value); }
METAL_FUNC bool meet_uni(u32 mask, bool value) { return __uni_sync(mask, value); }
METAL_FUNC u32 meet_active() { return __activemask(); }
template <class T>
METAL_FUNC T meet_reduce_add(T value, u32 mask) {
  return __reduce_add_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_min(T value, u32 mask) {
  return __reduce_min_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_max(T value, u32 mask) {
  return __reduce_max_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_and(T value, u32 mask) {
  return __reduce_and_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_or(T value, u32 mask) {
  return __reduce_or_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_xor(T value, u32 mask) {
  return __reduce_xor_sync(mask, value);
}
template <class T>
METAL_FUNC u32 meet_match_any(T value, u32 mask) {
  return __match_any_sync(mask, value);
}
METAL_FUNC void meet_barrier(u32 id, u32 threads = 0) { meet_at_barrier(id, threads, true, false); }
METAL_FUNC void arrive(u32 id, u32 threads) { meet_at_barrier(id, threads, false, false); }
METAL_FUNC void meet_warp(u32 mask) { __syncwarp(mask); }

}  // namespace ks::ptx

#include "ks_cuda_mma.h"
#include "ks_cuda_ptx_memory.h"
