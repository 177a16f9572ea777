// mma.sync with its lane layouts (PTX ISA, "Matrix fragments for mma"): lane l is in group g = l /
// 4 and is thread t = l % 4 of it. Products of half, bfloat16 and tf32 are summed in float.
#pragma once

namespace ks::ptx {

struct tf32 {
  u32 bits;
};
struct s4x8 {};

/// The elements of one operand type in a 32-bit register.
template <class T>
inline constexpr int per_register = int(4 / sizeof(T));
template <>
inline constexpr int per_register<f64> = 1;

template <class T>
METAL_FUNC auto operand(T a) {
  if constexpr (__is_same(T, tf32))
    return __builtin_bit_cast(float, a.bits & ~0x1fffu);
  else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
    return a.f();
  else if constexpr (__is_same(T, f64))
    return a;
  else
    return int(a);
}

/// Where element i of a lane's A (16 rows), B or C (8 columns) lies. P elements are in a register.
struct At {
  int row, column;
};
template <int p>
METAL_FUNC At at_a(u32 lane, int i) {
  const int g = int(lane / 4), t = int(lane % 4), r = i / p;
  return {g + 8 * (r & 1), t * p + i % p + 4 * p * (r >> 1)};
}
template <int p>
METAL_FUNC At at_b(u32 lane, int i) {
  const int g = int(lane / 4), t = int(lane % 4);
  return {t * p + i % p + 4 * p * (i / p), g};
}
METAL_FUNC At at_c(u32 lane, int i) {
  const int g = int(lane / 4), t = int(lane % 4);
  return {g + 8 * (i >> 1), 2 * t + (i & 1)};
}

template <class A, class B, class C, int k>
struct Fragments {
  static constexpr int kA = 16 * k / 32, kB = 8 * k / 32, kC = 4;
  A a[kA];
  B b[kB];
  C c[kC];
};
template <class D, class A, class B, class C, int k>
void resolve_mma(Post* const* lanes, u32 mask) {
  using In = Fragments<A, B, C, k>;
  struct Out {
    D d[4];
  };
  if (mask != 0xffffffffu) {
    each_lane(mask,
              [&](u32 l) { this_engine()->undefined_lane(post_out(lanes, l), sizeof(Out), l); });
    return;
  }
  using E = decltype(operand(A{}));
  E a[16][k], b[k][8];
  constexpr int p = per_register<A>;
  for (u32 l = 0; l < 32; ++l) {
    const In& in = posted<In>(lanes, l);
    for (int i = 0; i < In::kA; ++i) {
      const At at = at_a<p>(l, i);
      a[at.row][at.column] = operand(in.a[i]);
    }
    for (int i = 0; i < In::kB; ++i) {
      const At at = at_b<p>(l, i);
      b[at.row][at.column] = operand(in.b[i]);
    }
  }
  using Sum = std::conditional_t<std::is_integral_v<C>, int, float>;
  for (u32 l = 0; l < 32; ++l) {
    const In& in = posted<In>(lanes, l);
    Out out;
    for (int i = 0; i < 4; ++i) {
      const At at = at_c(l, i);
      Sum sum = 0;
      for (int j = 0; j < k; ++j) sum += a[at.row][j] * b[j][at.column];
      out.d[i] = D(Sum(sum + Sum(in.c[i])));
    }
    answer<Out>(lanes, l, out);
  }
}

/// m16n8 with k columns of A. Registers hold A, B and C (and D) as PTX lays them out: 32-bit words
/// of A and B, floats or words of two halves of C.
template <int k, class D, class A, class B, class C, class RD, int nd, class RA, int na, class RB,
          int nb, class RC, int nc>
METAL_FUNC void meet_mma(Refs<RD, nd> d, Refs<RA, na> a, Refs<RB, nb> b, Refs<RC, nc> c) {
  using In = Fragments<A, B, C, k>;
  struct Out {
    D d[4];
  };
  static_assert(na * 4 == sizeof(In::a) && nb * 4 == sizeof(In::b),
                "this mma takes another number of registers");
  static_assert(nc * 4 == sizeof(In::c) && nd * 4 == sizeof(Out),
                "this mma takes another number of registers");
  In in;
  u32 words[4];
  for (int i = 0; i < na; ++i) words[i] = as<u32>(a[i]);
  __builtin_memcpy(in.a, words, sizeof(in.a));
  for (int i = 0; i < nb; ++i) words[i] = as<u32>(b[i]);
  __builtin_memcpy(in.b, words, sizeof(in.b));
  for (int i = 0; i < nc; ++i) words[i] = as<u32>(c[i]);
  __builtin_memcpy(in.c, words, sizeof(in.c));
  const Out out = exchange<Out>(in, &resolve_mma<D, A, B, C, k>, 0, 0xffffffffu);
  __builtin_memcpy(words, out.d, sizeof(out.d));
  for (int i = 0; i < nd; ++i) set(d[i], words[i]);
}

}  // namespace ks::ptx
