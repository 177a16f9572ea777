// 8x8 matrices held by a SIMD-group, two elements a lane, in Apple's lane map:
// quarter q = lane / 4; row (q & 4) + (lane / 2) % 4; columns (q & 2) * 2 + (lane % 2) * 2 and the
// next.
#pragma once
#include "ks_simd.h"

namespace ks {

struct MatrixPlace {
  u32 row, column;
};
METAL_FUNC MatrixPlace matrix_place(u32 lane) {
  const u32 quarter = lane / 4;
  return {(quarter & 4u) + (lane / 2) % 4, (quarter & 2u) * 2 + (lane % 2) * 2};
}

}  // namespace ks

namespace metal {

template <class T, int columns, int rows>
struct simdgroup_matrix {
  static_assert(columns == 8 && rows == 8, "simdgroup matrices are 8 by 8");
  using storage_type = vec<T, 2>;
  storage_type held;

  simdgroup_matrix() = default;
  /// The diagonal.
  METAL_FUNC explicit simdgroup_matrix(T value) {
    const ks::MatrixPlace place = ks::matrix_place(ks::own_lane());
    held.x = place.row == place.column ? value : T(0);
    held.y = place.row == place.column + 1 ? value : T(0);
  }
  METAL_FUNC storage_type& thread_elements() { return held; }
  METAL_FUNC const storage_type& thread_elements() const { return held; }
};

using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int columns, int rows = columns>
METAL_FUNC simdgroup_matrix<T, columns, rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, columns, rows> r;
  r.held = vec<T, 2>(value);
  return r;
}
template <class T, int columns, int rows = columns>
METAL_FUNC simdgroup_matrix<T, columns, rows> make_diagonal_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, columns, rows>(value);
}

/// The place of element (row, column) of a matrix that begins at `origin` of an array with
/// `per_row` elements a row.
template <class P>
METAL_FUNC P* ks_matrix_element(P* array, ulong per_row, ulong2 origin, bool transposed, ulong row,
                                ulong column) {
  return transposed ? array + (origin.x + column) * per_row + origin.y + row
                    : array + (origin.y + row) * per_row + origin.x + column;
}
template <class T, class P>
METAL_FUNC void simdgroup_load(simdgroup_matrix<T, 8, 8>& matrix, const P* array, ulong per_row = 8,
                               ulong2 origin = ulong2(0), bool transposed = false) {
  const ks::MatrixPlace at = ks::matrix_place(ks::own_lane());
  const P* first = ks_matrix_element(array, per_row, origin, transposed, at.row, at.column);
  P two[2];
  if (transposed) {
    two[0] = first[0];
    two[1] = first[per_row];
  } else {
    __builtin_memcpy(two, first, sizeof(two));  // one access, as hardware makes it
  }
  matrix.held.x = T(two[0]);
  matrix.held.y = T(two[1]);
}
template <class T, class P>
METAL_FUNC void simdgroup_store(const simdgroup_matrix<T, 8, 8>& matrix, P* array,
                                ulong per_row = 8, ulong2 origin = ulong2(0),
                                bool transposed = false) {
  const ks::MatrixPlace at = ks::matrix_place(ks::own_lane());
  P* first = ks_matrix_element(array, per_row, origin, transposed, at.row, at.column);
  const P two[2] = {P(matrix.held.x), P(matrix.held.y)};
  if (transposed) {
    first[0] = two[0];
    first[per_row] = two[1];
  } else {
    __builtin_memcpy(first, two, sizeof(two));
  }
}

}  // namespace metal

namespace ks {

/// The sum first and no padding at the end: see kInWords.
template <class A, class B, class C>
struct __attribute__((packed, aligned(4))) MatrixOperands {
  metal::vec<C, 2> c;
  metal::vec<A, 2> a;
  metal::vec<B, 2> b;
};
template <class A, class B, class C>
inline constexpr bool kInWords<MatrixOperands<A, B, C>> = true;
/// Of a lane, for the whole matrix's owner: lanes of a SIMD-group have neighbouring mailboxes.
template <class T>
KS_PLAIN METAL_FUNC void gather(T (&matrix)[64], const char* first) {
#pragma unroll
  for (u32 l = 0; l < 32; ++l) {
    const MatrixPlace at = matrix_place(l);
    __builtin_memcpy(&matrix[at.row * 8 + at.column], first + l * sizeof(Mailbox), 2 * sizeof(T));
  }
}
using Row = float __attribute__((ext_vector_type(8)));
template <class T>
KS_PLAIN METAL_FUNC Row row_of(const T (&matrix)[64], u32 row) {
  Row r;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) r[i] = float(matrix[row * 8 + i]);
  return r;
}

/// d = a b + c, summed in float; every value is defined.
template <class D, class A, class B, class C>
KS_PLAIN inline void multiply_defined(Post* const* lanes) {
  using In = MatrixOperands<A, B, C>;
  const char* in = static_cast<const char*>(lanes[0]->in);
  A a[64];
  B b[64];
  C c[64];
  D d[64];
  gather(a, in + __builtin_offsetof(In, a));
  gather(b, in + __builtin_offsetof(In, b));
  gather(c, in + __builtin_offsetof(In, c));
  Row rows[8];
  for (u32 k = 0; k < 8; ++k) rows[k] = row_of(b, k);
  for (u32 r = 0; r < 8; ++r) {
    Row sum = row_of(c, r);
    const Row factors = row_of(a, r);
    for (u32 k = 0; k < 8; ++k) sum += factors[k] * rows[k];
    for (u32 i = 0; i < 8; ++i) d[r * 8 + i] = D(sum[i]);
  }
  char* out = static_cast<char*>(lanes[0]->out);
#pragma unroll
  for (u32 l = 0; l < 32; ++l) {
    const MatrixPlace at = matrix_place(l);
    __builtin_memcpy(out + l * sizeof(Mailbox), &d[at.row * 8 + at.column], 2 * sizeof(D));
    define(out + l * sizeof(Mailbox), 2 * sizeof(D));
  }
}
/// The same with the definedness of each value carried along.
template <class D, class A, class B, class C>
void multiply_each(Post* const* lanes) {
  float a[8][8], b[8][8];
  for (u32 l = 0; l < 32; ++l) {
    const MatrixPlace at = matrix_place(l);
    const auto& post = posted<MatrixOperands<A, B, C>>(lanes, l);
    a[at.row][at.column] = float(post.a.x);
    a[at.row][at.column + 1] = float(post.a.y);
    b[at.row][at.column] = float(post.b.x);
    b[at.row][at.column + 1] = float(post.b.y);
  }
  for (u32 l = 0; l < 32; ++l) {
    const MatrixPlace at = matrix_place(l);
    const auto& post = posted<MatrixOperands<A, B, C>>(lanes, l);
    float x = float(post.c.x), y = float(post.c.y);
    for (u32 k = 0; k < 8; ++k) {
      x += a[at.row][k] * b[k][at.column];
      y += a[at.row][k] * b[k][at.column + 1];
    }
    answer<metal::vec<D, 2>>(lanes, l, metal::vec<D, 2>(D(x), D(y)));
  }
}
inline void no_result(Post* const* lanes, u32 mask, u32 bytes) {
  each_lane(mask, [&](u32 l) { this_engine()->undefined_lane(post_out(lanes, l), bytes, l); });
}
template <class D, class A, class B, class C>
KS_PLAIN void resolve_multiply(Post* const* lanes, u32 mask) {
  if (mask != 0xffffffffu)
    no_result(lanes, mask, 2 * sizeof(D));
  else if (all_defined(lanes))
    multiply_defined<D, A, B, C>(lanes);
  else
    multiply_each<D, A, B, C>(lanes);
}

}  // namespace ks

namespace metal {

template <class D, class A, class B, class C>
METAL_FUNC void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d,
                                              const simdgroup_matrix<A, 8, 8>& a,
                                              const simdgroup_matrix<B, 8, 8>& b,
                                              const simdgroup_matrix<C, 8, 8>& c) {
  d.held = ks::exchange<vec<D, 2>>(ks::MatrixOperands<A, B, C>{c.held, a.held, b.held},
                                   &ks::resolve_multiply<D, A, B, C>);
}
template <class D, class A, class B>
METAL_FUNC void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                   const simdgroup_matrix<B, 8, 8>& b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)));
}

template <class A, class B>
METAL_FUNC simdgroup_matrix<A, 8, 8> operator*(const simdgroup_matrix<A, 8, 8>& a,
                                               const simdgroup_matrix<B, 8, 8>& b) {
  simdgroup_matrix<A, 8, 8> r;
  simdgroup_multiply(r, a, b);
  return r;
}

}  // namespace metal
