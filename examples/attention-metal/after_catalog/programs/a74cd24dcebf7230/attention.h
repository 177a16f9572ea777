// A group takes 32 queries, each of its four SIMD-groups 8 of them. Scores, weights and sums stay
// in registers, as 8x8 matrices; a row of one is in four lanes.
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

typedef simdgroup_matrix<float, 8, 8> Sums;
template <typename T>
using Operand = simdgroup_matrix<T, 8, 8>;

/// Where a lane's two elements lie in an 8x8 matrix: this row, this column and the next.
struct Place {
  ushort row, column;
};
METAL_FUNC Place place_of(ushort lane) {
  const ushort quarter = lane / 4;
  return {ushort((quarter & 4) + (lane / 2) % 4), ushort((quarter & 2) * 2 + (lane % 2) * 2)};
}

/// Over the four lanes that hold a row of a matrix: two shuffles, no memory.
METAL_FUNC float row_max(float value) {
  value = max(value, simd_shuffle_xor(value, ushort(1)));
  return max(value, simd_shuffle_xor(value, ushort(8)));
}
METAL_FUNC float row_sum(float value) {
  value += simd_shuffle_xor(value, ushort(1));
  return value + simd_shuffle_xor(value, ushort(8));
}

/// ROWS rows of D elements to group memory; rows from `rows` on are zeros.
template <short D, short STRIDE, short ROWS, short THREADS, typename T>
METAL_FUNC void stage(threadgroup T* to, const device T* from, ushort thread_index, int rows) {
  constexpr ushort parts = ROWS * D / 4;
  for (ushort n = thread_index; n < parts; n += THREADS) {
    const ushort row = n / (D / 4), column = n % (D / 4) * 4;
    vec<T, 4> four = vec<T, 4>(T(0));
    if (row < rows) four = *(const device vec<T, 4>*)(from + row * D + column);
    *(threadgroup vec<T, 4>*)(to + row * STRIDE + column) = four;
  }
}

constant constexpr float kHidden = -1e30f;  // a score of a key that may not be seen
