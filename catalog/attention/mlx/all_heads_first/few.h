// A SIMD-group takes 8 queries: scores, weights and sums are 8x8 matrices in its registers, queries
// too. Operands are read from device memory.
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

template <typename T>
METAL_FUNC Operand<T> matrix_of(T first, T second) {
  Operand<T> matrix;
  matrix.thread_elements()[0] = first;
  matrix.thread_elements()[1] = second;
  return matrix;
}

/// N neighbouring elements, by loads of up to 16 bytes.
template <int N, typename T>
METAL_FUNC void read(thread T* to, const device T* from) {
  if constexpr (N == 8) {
    read<4>(to, from);
    read<4>(to + 4, from + 4);
  } else if constexpr (N == 4) {
    const vec<T, 4> four = *(const device vec<T, 4>*)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  } else if constexpr (N == 2) {
    const vec<T, 2> two = *(const device vec<T, 2>*)from;
    to[0] = two.x, to[1] = two.y;
  } else {
    to[0] = from[0];
  }
}

/// Neighbouring columns that a lane takes at once where `lanes` lanes share rows of `columns`: a
/// power of two, 16 bytes at most.
template <typename T>
constexpr ushort width_of(ushort lanes, ushort columns) {
  return columns % (lanes * 16 / sizeof(T)) == 0  ? 16 / sizeof(T)
         : columns % (lanes * 8 / sizeof(T)) == 0 ? 8 / sizeof(T)
         : columns % (lanes * 4 / sizeof(T)) == 0 ? 4 / sizeof(T)
                                                  : 1;
}

/// Over the four lanes that hold a row of a matrix.
METAL_FUNC float row_max(float value) {
  value = max(value, simd_shuffle_xor(value, ushort(1)));
  return max(value, simd_shuffle_xor(value, ushort(8)));
}
METAL_FUNC float row_sum(float value) {
  value += simd_shuffle_xor(value, ushort(1));
  return value + simd_shuffle_xor(value, ushort(8));
}

constant constexpr float kHidden = -1e30f;  // a score of a key that may not be seen
