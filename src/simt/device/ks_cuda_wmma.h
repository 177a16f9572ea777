// nvcuda::wmma: fragments of a matrix held by a warp. Which elements a lane holds is not defined by
// CUDA; here it is a run along the rows (or columns) as they lie in memory.
#pragma once
#include "ks_cuda_ptx.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}  // namespace precision

template <class T>
struct ks_storage {
  using type = T;
};
template <>
struct ks_storage<precision::tf32> {
  using type = float;
};

template <class Use, int m, int n, int k>
inline constexpr int ks_rows = __is_same(Use, matrix_b) ? k : m;
template <class Use, int m, int n, int k>
inline constexpr int ks_columns = __is_same(Use, matrix_a) ? k : n;

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  using element_type = typename ks_storage<T>::type;
  using storage_element_type = element_type;
  static constexpr int ks_held = ks_rows<Use, m, n, k> * ks_columns<Use, m, n, k> / 32;
  // The hardware holds every element of a half matrix twice.
  static constexpr int num_elements =
      __is_same(T, __half) && !__is_same(Use, accumulator) ? 16 : ks_held;
  static constexpr int num_storage_elements = num_elements;
  static_assert(ks_held <= num_elements && ks_held > 0, "there is no fragment of this shape");
  element_type x[num_elements];
};

template <class F, class T>
METAL_FUNC void fill_fragment(F& f, const T& value) {
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = typename F::element_type(value);
}
METAL_FUNC float __float_to_tf32(float x) {
  return __builtin_bit_cast(float, ks::ptx::cvt_tf32(x));
}

/// Element i of the lane, in a matrix of `inner` elements a line.
template <int held, int inner>
METAL_FUNC ks::ptx::At ks_element(unsigned lane, int i) {
  const int all = int(lane) * held + i;
  return {all / inner, all % inner};
}
KS_PLAIN __attribute__((noinline)) inline void ks_check_alignment(const void* at,
                                                                  unsigned long line_bytes) {
  if ((unsigned long)at % 32 != 0) ks::this_engine()->misaligned(at, 32, KS_HERE);
  if (line_bytes % 16 != 0)
    ks::this_engine()->misaligned((const char*)at + line_bytes, 16, KS_HERE);
}
template <bool by_rows, int rows, int columns, class F, class T>
METAL_FUNC void ks_load(F& f, const T* from, unsigned line) {
  ks_check_alignment(from, line * sizeof(T));
  constexpr int held = F::ks_held;
  for (int i = 0; i < F::num_elements; ++i) {
    if (i >= held) {
      f.x[i] = f.x[i - held];
      continue;
    }
    const auto at = ks_element < held, by_rows ? columns : rows > (ks_lane_id(), i);
    f.x[i] = from[at.row * line + at.column];
  }
}
template <class Use, int m, int n, int k, class T, class Layout, class P>
METAL_FUNC void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const P* from,
                                 unsigned line) {
  ks_load<__is_same(Layout, row_major), ks_rows<Use, m, n, k>, ks_columns<Use, m, n, k>>(f, from,
                                                                                         line);
}
template <int m, int n, int k, class T, class P>
METAL_FUNC void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const P* from, unsigned line,
                                 layout_t layout) {
  // A lane's elements are the same in both layouts: those by rows.
  using F = fragment<accumulator, m, n, k, T>;
  ks_check_alignment(from, line * sizeof(P));
  for (int i = 0; i < F::ks_held; ++i) {
    const auto at = ks_element<F::ks_held, n>(ks_lane_id(), i);
    f.x[i] =
        layout == mem_row_major ? from[at.row * line + at.column] : from[at.column * line + at.row];
  }
}
template <int m, int n, int k, class T, class P>
METAL_FUNC void store_matrix_sync(P* to, const fragment<accumulator, m, n, k, T>& f, unsigned line,
                                  layout_t layout) {
  using F = fragment<accumulator, m, n, k, T>;
  ks_check_alignment(to, line * sizeof(P));
  for (int i = 0; i < F::ks_held; ++i) {
    const auto at = ks_element<F::ks_held, n>(ks_lane_id(), i);
    (layout == mem_row_major ? to[at.row * line + at.column] : to[at.column * line + at.row]) =
        f.x[i];
  }
}

template <class A, class B, class C>
struct ks_operands {
  A a;
  B b;
  C c;
};
template <class T, class E>
METAL_FUNC auto ks_operand(const E& e) {
  if constexpr (__is_same(T, precision::tf32))
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, e) & ~0x1fffu);
  else if constexpr (std::is_integral_v<E>)
    return int(e);
  else if constexpr (__is_same(E, double))
    return e;
  else
    return float(e);
}
template <class D, class C, class TA, class LA, class TB, class LB, int m, int n, int k>
void ks_resolve_mma(ks::Post* const* lanes, ks::u32 mask) {
  using FA = fragment<matrix_a, m, n, k, TA, LA>;
  using FB = fragment<matrix_b, m, n, k, TB, LB>;
  using FC = fragment<accumulator, m, n, k, C>;
  using FD = fragment<accumulator, m, n, k, D>;
  using In = ks_operands<FA, FB, FC>;
  if (mask != 0xffffffffu) {
    ks::each_lane(mask, [&](ks::u32 l) {
      ks::this_engine()->undefined_lane(ks::post_out(lanes, l), sizeof(FD), l);
    });
    return;
  }
  using E = decltype(ks_operand<TA>(typename FA::element_type{}));
  E a[m][k], b[k][n];
  for (ks::u32 l = 0; l < 32; ++l) {
    const In& in = ks::posted<In>(lanes, l);
    constexpr bool a_rows = __is_same(LA, row_major), b_rows = __is_same(LB, row_major);
    for (int i = 0; i < FA::ks_held; ++i) {
      const auto at = ks_element < FA::ks_held, a_rows ? k : m > (l, i);
      (a_rows ? a[at.row][at.column] : a[at.column][at.row]) = ks_operand<TA>(in.a.x[i]);
    }
    for (int i = 0; i < FB::ks_held; ++i) {
      const auto at = ks_element < FB::ks_held, b_rows ? n : k > (l, i);
      (b_rows ? b[at.row][at.column] : b[at.column][at.row]) = ks_operand<TB>(in.b.x[i]);
    }
  }
  for (ks::u32 l = 0; l < 32; ++l) {
    const In& in = ks::posted<In>(lanes, l);
    FD out;
    for (int i = 0; i < FD::ks_held; ++i) {
      const auto at = ks_element<FD::ks_held, n>(l, i);
      E sum = 0;
      for (int j = 0; j < k; ++j) sum += a[at.row][j] * b[j][at.column];
      out.x[i] = D(sum + E(in.c.x[i]));
    }
    ks::answer<FD>(lanes, l, out);
  }
}
template <int m, int n, int k, class D, class TA, class LA, class TB, class LB, class C>
METAL_FUNC void mma_sync(fragment<accumulator, m, n, k, D>& d,
                         const fragment<matrix_a, m, n, k, TA, LA>& a,
                         const fragment<matrix_b, m, n, k, TB, LB>& b,
                         const fragment<accumulator, m, n, k, C>& c) {
  using In = ks_operands<fragment<matrix_a, m, n, k, TA, LA>, fragment<matrix_b, m, n, k, TB, LB>,
                         fragment<accumulator, m, n, k, C>>;
  d = ks::exchange<fragment<accumulator, m, n, k, D>>(
      In{a, b, c}, &ks_resolve_mma<D, C, TA, LA, TB, LB, m, n, k>, 0, 0xffffffffu);
}

}  // namespace nvcuda::wmma
