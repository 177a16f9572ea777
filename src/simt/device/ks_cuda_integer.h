// Intrinsics on integers: bits, bytes, wide products, dot products, and the SIMD-in-a-word ones.
#pragma once
#include "ks_cuda_math.h"

METAL_FUNC constexpr int __popc(unsigned x) { return __builtin_popcount(x); }
METAL_FUNC constexpr int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
METAL_FUNC constexpr int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
METAL_FUNC constexpr int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
METAL_FUNC constexpr int __ffs(int x) { return __builtin_ffs(x); }
METAL_FUNC constexpr int __ffsll(long long x) { return __builtin_ffsll(x); }
METAL_FUNC constexpr unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
METAL_FUNC constexpr unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
/// Byte i of the result: the one that digit i of `selector` names of a (0-3) and b (4-7).
METAL_FUNC constexpr unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long all = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned which = selector >> (4 * i);
    unsigned byte = unsigned(all >> (8 * (which & 7u))) & 0xffu;
    if (which & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}
METAL_FUNC constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long long)high << 32 | low) << (shift & 31u) >> 32);
}
METAL_FUNC constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((unsigned long long)high << 32 | low) >> (shift & 31u));
}
METAL_FUNC constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
METAL_FUNC constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
METAL_FUNC constexpr int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
METAL_FUNC constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((unsigned long long)a * b >> 32);
}
METAL_FUNC constexpr long long __mul64hi(long long a, long long b) {
  return (long long)((__int128)a * b >> 64);
}
METAL_FUNC constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
METAL_FUNC constexpr int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
METAL_FUNC constexpr unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
METAL_FUNC constexpr unsigned __sad(int a, int b, unsigned c) {
  return c + (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b));
}
METAL_FUNC constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a < b ? b - a : a - b);
}
METAL_FUNC constexpr int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
METAL_FUNC constexpr int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
METAL_FUNC constexpr unsigned __uhadd(unsigned a, unsigned b) {
  return unsigned(((unsigned long long)a + b) >> 1);
}
METAL_FUNC constexpr unsigned __urhadd(unsigned a, unsigned b) {
  return unsigned(((unsigned long long)a + b + 1) >> 1);
}

namespace ks {
template <class T>
METAL_FUNC constexpr T part(unsigned word, unsigned i) {
  return T(word >> (8 * sizeof(T) * i));
}
/// The word whose parts of type T are f(part of a, part of b), cut to T's size.
template <class T, class F>
METAL_FUNC constexpr unsigned each_part(unsigned a, unsigned b, F f) {
  unsigned result = 0;
  for (unsigned i = 0; i < 4 / sizeof(T); ++i)
    result |= (unsigned(f(int(part<T>(a, i)), int(part<T>(b, i)))) &
               unsigned(std::make_unsigned_t<T>(~0)))
              << (8 * sizeof(T) * i);
  return result;
}
METAL_FUNC constexpr int clamp_to(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}
}  // namespace ks

METAL_FUNC constexpr int __dp4a(int a, int b, int c) {
  for (unsigned i = 0; i < 4; ++i)
    c += int(ks::part<signed char>(unsigned(a), i)) * ks::part<signed char>(unsigned(b), i);
  return c;
}
METAL_FUNC constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (unsigned i = 0; i < 4; ++i)
    c += unsigned(ks::part<unsigned char>(a, i)) * ks::part<unsigned char>(b, i);
  return c;
}
METAL_FUNC constexpr int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
METAL_FUNC constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
METAL_FUNC constexpr int __dp2a_lo(int a, int b, int c) {
  for (unsigned i = 0; i < 2; ++i)
    c += int(ks::part<short>(unsigned(a), i)) * ks::part<signed char>(unsigned(b), i);
  return c;
}
METAL_FUNC constexpr int __dp2a_hi(int a, int b, int c) {
  for (unsigned i = 0; i < 2; ++i)
    c += int(ks::part<short>(unsigned(a), i)) * ks::part<signed char>(unsigned(b), i + 2);
  return c;
}

#define KS_PARTS(name, T, expression)                                       \
  METAL_FUNC constexpr unsigned name(unsigned a, unsigned b) {              \
    return ks::each_part<T>(a, b, [](int x, int y) { return expression; }); \
  }
#define KS_PARTS_4_2(name, S4, S2, expression) \
  KS_PARTS(name##4, S4, expression)            \
  KS_PARTS(name##2, S2, expression)
KS_PARTS_4_2(__vadd, unsigned char, unsigned short, x + y)
KS_PARTS_4_2(__vsub, unsigned char, unsigned short, x - y)
KS_PARTS(__vaddss4, signed char, ks::clamp_to(x + y, -128, 127))
KS_PARTS(__vaddss2, short, ks::clamp_to(x + y, -32768, 32767))
KS_PARTS(__vsubss4, signed char, ks::clamp_to(x - y, -128, 127))
KS_PARTS(__vsubss2, short, ks::clamp_to(x - y, -32768, 32767))
KS_PARTS(__vaddus4, unsigned char, ks::clamp_to(x + y, 0, 255))
KS_PARTS(__vsubus4, unsigned char, ks::clamp_to(x - y, 0, 255))
KS_PARTS_4_2(__vmaxs, signed char, short, x > y ? x : y)
KS_PARTS_4_2(__vmins, signed char, short, x < y ? x : y)
KS_PARTS_4_2(__vmaxu, unsigned char, unsigned short, x > y ? x : y)
KS_PARTS_4_2(__vminu, unsigned char, unsigned short, x < y ? x : y)
KS_PARTS_4_2(__vabsdiffu, unsigned char, unsigned short, x > y ? x - y : y - x)
KS_PARTS_4_2(__vabsdiffs, signed char, short, x > y ? x - y : y - x)
KS_PARTS_4_2(__vavgu, unsigned char, unsigned short, (x + y + 1) >> 1)
KS_PARTS_4_2(__vcmpeq, unsigned char, unsigned short, x == y ? -1 : 0)
KS_PARTS_4_2(__vcmpne, unsigned char, unsigned short, x != y ? -1 : 0)
KS_PARTS_4_2(__vcmpgtu, unsigned char, unsigned short, x > y ? -1 : 0)
KS_PARTS_4_2(__vcmpgts, signed char, short, x > y ? -1 : 0)
KS_PARTS_4_2(__vcmpltu, unsigned char, unsigned short, x < y ? -1 : 0)
KS_PARTS_4_2(__vcmplts, signed char, short, x < y ? -1 : 0)
KS_PARTS_4_2(__vcmpgeu, unsigned char, unsigned short, x >= y ? -1 : 0)
KS_PARTS_4_2(__vcmpges, signed char, short, x >= y ? -1 : 0)
KS_PARTS_4_2(__vcmpleu, unsigned char, unsigned short, x <= y ? -1 : 0)
KS_PARTS_4_2(__vcmples, signed char, short, x <= y ? -1 : 0)
KS_PARTS_4_2(__vseteq, unsigned char, unsigned short, x == y ? 1 : 0)
KS_PARTS_4_2(__vsetne, unsigned char, unsigned short, x != y ? 1 : 0)
KS_PARTS_4_2(__vsetgtu, unsigned char, unsigned short, x > y ? 1 : 0)
KS_PARTS_4_2(__vsetgts, signed char, short, x > y ? 1 : 0)
#undef KS_PARTS
#undef KS_PARTS_4_2
METAL_FUNC constexpr unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
METAL_FUNC constexpr unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
METAL_FUNC constexpr unsigned __vabs4(unsigned a) { return __vabsdiffs4(a, 0); }
METAL_FUNC constexpr unsigned __vabs2(unsigned a) { return __vabsdiffs2(a, 0); }
METAL_FUNC constexpr unsigned __vsadu4(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffu4(a, b);
  return (d & 0xffu) + (d >> 8 & 0xffu) + (d >> 16 & 0xffu) + (d >> 24);
}
