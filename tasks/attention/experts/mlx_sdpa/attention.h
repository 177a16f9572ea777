// The strategy of MLX's fused attention for long queries, written anew: a group takes 32 queries, each
// of its four SIMD-groups 8 of them; keys are staged transposed, keys and values share one buffer;
// scores, weights and sums stay in registers as 8x8 matrices of floats.
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr short kThreads = 128;

/// Where a lane's two elements lie in an 8x8 matrix: this row, this column and the next.
struct Place {
  short row, column;
};
METAL_FUNC Place place_of(ushort lane) {
  const short quarter = lane / 4;
  return {short((quarter & 4) + (lane / 2) % 4), short((quarter & 2) * 2 + (lane % 2) * 2)};
}

/// ROWS x COLUMNS elements from device memory to group memory, each thread a part of one row.
/// TRANSPOSED: element (r, c) goes to to[c * STRIDE + r], else to[r * STRIDE + c]. WHOLE: all rows exist,
/// else those from `rows` on become zeros.
template <typename T, short ROWS, short COLUMNS, short STRIDE, bool TRANSPOSED, bool WHOLE>
METAL_FUNC void stage(const device T* from, threadgroup T* to, short thread_index, int rows) {
  constexpr short each = ROWS * COLUMNS / kThreads;
  constexpr short in_row = COLUMNS / each;
  static_assert(kThreads / in_row == ROWS, "each thread loads once");
  const short row = thread_index / in_row, column = thread_index % in_row * each;
  from += row * COLUMNS + column;
  to += TRANSPOSED ? column * STRIDE + row : row * STRIDE + column;
  constexpr short step = TRANSPOSED ? STRIDE : 1;
  if (WHOLE || row < rows) {
#pragma unroll
    for (short i = 0; i < each; ++i) to[i * step] = from[i];
  } else {
#pragma unroll
    for (short i = 0; i < each; ++i) to[i * step] = T(0);
  }
}

template <typename T>
METAL_FUNC float2 pair_at(const threadgroup T* at) {
  return float2(float(at[0]), float(at[1]));
}
METAL_FUNC simdgroup_float8x8 matrix_of(float2 pair) {
  simdgroup_float8x8 matrix;
  matrix.thread_elements()[0] = pair.x;
  matrix.thread_elements()[1] = pair.y;
  return matrix;
}
/// sum += a b
METAL_FUNC float2 multiply_add(float2 a, float2 b, float2 sum) {
  simdgroup_float8x8 result, left = matrix_of(a), right = matrix_of(b), start = matrix_of(sum);
  simdgroup_multiply_accumulate(result, left, right, start);
  return float2(result.thread_elements()[0], result.thread_elements()[1]);
}

/// Over the four lanes that hold a row.
METAL_FUNC float row_max(float2 pair) {
  float value = max(pair.x, pair.y);
  value = max(value, simd_shuffle_xor(value, ushort(1)));
  return max(value, simd_shuffle_xor(value, ushort(8)));
}
METAL_FUNC float row_sum(float2 pair) {
  float value = pair.x + pair.y;
  value += simd_shuffle_xor(value, ushort(1));
  return value + simd_shuffle_xor(value, ushort(8));
}
