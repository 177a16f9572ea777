// A SIMD-group takes 16 queries: scores, weights and sums are 8x8 matrices in its registers,
// queries too. Keys and values are staged in threadgroup memory as they lie in device memory.
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

/// Eight elements of two bytes out of 16 bytes.
template <typename T>
METAL_FUNC void unpack(thread T* to, uint4 raw) {
  const vec<T, 4> low = as_type<vec<T, 4>>(raw.xy), high = as_type<vec<T, 4>>(raw.zw);
  to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
  to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

/// N neighbouring elements by one access of up to 16 bytes; `from` is aligned to it.
template <int N, typename T>
METAL_FUNC void read(thread T* to, const threadgroup T* from) {
  if constexpr (N == 8) {
    unpack(to, *(const threadgroup uint4*)from);
  } else if constexpr (N == 4) {
    const vec<T, 4> four = *(const threadgroup vec<T, 4>*)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  } else if constexpr (N == 2) {
    const vec<T, 2> two = *(const threadgroup vec<T, 2>*)from;
    to[0] = two.x, to[1] = two.y;
  } else {
    to[0] = from[0];
  }
}
template <int N, typename T>
METAL_FUNC void read(thread T* to, const device T* from) {
  if constexpr (N == 8) {
    unpack(to, *(const device uint4*)from);
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
template <int N, typename T>
METAL_FUNC void write(device T* to, const thread T* from) {
  if constexpr (N == 8) {
    const uint2 low = as_type<uint2>(vec<T, 4>(from[0], from[1], from[2], from[3]));
    const uint2 high = as_type<uint2>(vec<T, 4>(from[4], from[5], from[6], from[7]));
    *(device uint4*)to = uint4(low.x, low.y, high.x, high.y);
  } else if constexpr (N == 4) {
    *(device vec<T, 4>*)to = vec<T, 4>(from[0], from[1], from[2], from[3]);
  } else {
    for (int e = 0; e < N; ++e) to[e] = from[e];
  }
}

/// A weight as an operand; where the type is coarse the float becomes what the operand holds.
METAL_FUNC void narrow(thread float& to, thread float& weight) { to = weight; }
METAL_FUNC void narrow(thread half& to, thread float& weight) { to = half(weight); }
METAL_FUNC void narrow(thread bfloat& to, thread float& weight) {
  const uint bits = as_type<uint>(weight) + 0x8000u;
  weight = as_type<float>(bits & 0xffff0000u);
  to = as_type<bfloat>(ushort(bits >> 16));
}

/// ROWS rows to group memory, 16 bytes a thread at a time; rows from `rows` on are zeros.
template <short D, short STRIDE, short ROWS, short THREADS, bool RAGGED, typename T>
METAL_FUNC void stage(threadgroup uint4* to, const device T* from, ushort thread_index, int rows) {
  constexpr ushort V = 16 / sizeof(T), W = D / V, parts = ROWS * W;
  const device uint4* wide = (const device uint4*)from;
#pragma unroll
  for (ushort i = 0; i * THREADS < parts; ++i) {
    const ushort n = i * THREADS + thread_index;
    if (parts % THREADS == 0 || n < parts) {
      uint4 part = uint4(0u);
      if (!RAGGED || n < rows * W) part = wide[n];
      to[n / W * (STRIDE / V) + n % W] = part;
    }
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
