// A group takes 32 queries, each of its four SIMD-groups 8 of them. Products are those of 8x8
// matrices; scores go through threadgroup memory for the softmax, a diagonal matrix shrinks the
// sums.
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

typedef simdgroup_matrix<float, 8, 8> Sums;
template <typename T>
using Operand = simdgroup_matrix<T, 8, 8>;

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
