// A SIMD-group takes 16 queries: scores, weights and sums are 8x8 matrices in its registers,
// queries too. Values are staged in threadgroup memory as they lie in device memory, keys in pairs
// whose elements alternate, so that a lane finds its operands' two elements side by side.
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

/// N neighbouring elements by accesses of up to 16 bytes.
template <int N, typename T>
METAL_FUNC void read_all(thread T* to, const threadgroup T* from) {
  constexpr int kOnce = N * sizeof(T) > 16 ? 16 / sizeof(T) : N;
#pragma unroll
  for (int e = 0; e < N; e += kOnce) read<kOnce>(to + e, from + e);
}

/// Two neighbouring weights as an operand, rounded to its type.
METAL_FUNC void narrow(thread Operand<float>& to, float x, float y) { to = matrix_of(x, y); }
METAL_FUNC void narrow(thread Operand<half>& to, float x, float y) {
  to = matrix_of(half(x), half(y));
}
METAL_FUNC void narrow(thread Operand<bfloat>& to, float x, float y) {
  const uint low = as_type<uint>(x) + 0x8000u, high = as_type<uint>(y) + 0x8000u;
  const vec<bfloat, 2> pair = as_type<vec<bfloat, 2>>((high & 0xffff0000u) | (low >> 16));
  to = matrix_of(pair.x, pair.y);
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

/// 16 bytes of each of two rows, element by element: x0 y0 x1 y1 ...
template <typename T>
METAL_FUNC void alternate(thread uint4& low, thread uint4& high, uint4 x, uint4 y) {
  if constexpr (sizeof(T) == 4) {
    low = uint4(x.x, y.x, x.y, y.y);
    high = uint4(x.z, y.z, x.w, y.w);
  } else {
    const ushort4 a = as_type<ushort4>(x.xy), b = as_type<ushort4>(y.xy);
    const ushort4 c = as_type<ushort4>(x.zw), d = as_type<ushort4>(y.zw);
    const uint2 first = as_type<uint2>(ushort4(a.x, b.x, a.y, b.y));
    const uint2 second = as_type<uint2>(ushort4(a.z, b.z, a.w, b.w));
    const uint2 third = as_type<uint2>(ushort4(c.x, d.x, c.y, d.y));
    const uint2 fourth = as_type<uint2>(ushort4(c.z, d.z, c.w, d.w));
    low = uint4(first.x, first.y, second.x, second.y);
    high = uint4(third.x, third.y, fourth.x, fourth.y);
  }
}

/// ROWS rows to group memory in pairs, the two rows of a pair element by element.
template <short D, short PAIR_STRIDE, short ROWS, short THREADS, bool RAGGED, typename T>
METAL_FUNC void stage_pairs(threadgroup uint4* to, const device T* from, ushort thread_index,
                            int rows) {
  constexpr ushort V = 16 / sizeof(T), W = D / V, parts = ROWS / 2 * W;
  const device uint4* wide = (const device uint4*)from;
#pragma unroll
  for (ushort i = 0; i * THREADS < parts; ++i) {
    const ushort n = i * THREADS + thread_index;
    if (parts % THREADS == 0 || n < parts) {
      const ushort row = n / W * 2, part = n % W;
      uint4 x = uint4(0u), y = uint4(0u), low, high;
      if (!RAGGED || row < rows) x = wide[row * W + part];
      if (!RAGGED || row + 1 < rows) y = wide[row * W + W + part];
      alternate<T>(low, high, x, y);
      to[n / W * (PAIR_STRIDE / V) + part * 2] = low;
      to[n / W * (PAIR_STRIDE / V) + part * 2 + 1] = high;
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

constant constexpr short kOwn = 16;  // queries of a SIMD-group: two rows of matrices

/// What a SIMD-group keeps: its queries, the sums of its outputs, and for the two rows of a lane
/// minus the reference of the scores and the part of the weights' sum that the lane has.
template <typename T, short D>
struct State {
  Operand<T> queries[D / 4];
  Sums sums[D / 4];
  float minus[2], total[2];
};

/// STEP keys. `left`, `left_below`: the last keys that a lane's two rows of queries see, counted from
/// the lane's first column; `upper`: the first row of matrices sees keys from the eighth on.
template <short STEP, bool MASKED, short STRIDE, short PAIR_STRIDE, short WK, short WV, typename T, short D>
METAL_FUNC void step_of(thread State<T, D>& state, const threadgroup T* key,
                        const threadgroup T* value, int left, int left_below,
                        bool first_step, bool upper) {
  constexpr short kColumns = D / 8, kKeys = STEP / 8;
  Sums scores[2 * kKeys];
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    scores[j] = matrix_of(state.minus[0], state.minus[0]);
    scores[kKeys + j] = matrix_of(state.minus[1], state.minus[1]);
  }
#pragma unroll
  for (short p = 0; p < kColumns; p += WK)
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      T both[2 * WK];
      read_all<2 * WK>(both, key + j * 4 * PAIR_STRIDE + p * 16);
      Operand<T> pair[WK];
#pragma unroll
      for (short m = 0; m < WK; ++m) pair[m] = matrix_of(both[2 * m], both[2 * m + 1]);
      if (!MASKED || j == 0 || upper)
#pragma unroll
        for (short m = 0; m < WK; ++m)
          simdgroup_multiply_accumulate(scores[j], state.queries[p + m], pair[m], scores[j]);
#pragma unroll
      for (short m = 0; m < WK; ++m)
        simdgroup_multiply_accumulate(scores[kKeys + j], state.queries[kColumns + p + m], pair[m],
                                      scores[kKeys + j]);
    }
  if (MASKED) {
#pragma unroll
    for (short t = 0; t < 2; ++t)
#pragma unroll
      for (short j = 0; j < kKeys; ++j) {
        thread Sums& score = scores[t * kKeys + j];
        const int last = (t == 0 ? left : left_below) - j * 8;
        score.thread_elements()[0] = last < 0 ? kHidden : score.thread_elements()[0];
        score.thread_elements()[1] = last < 1 ? kHidden : score.thread_elements()[1];
      }
  }
  float most[2] = {kHidden, kHidden};
#pragma unroll
  for (short t = 0; t < 2; ++t)
#pragma unroll
    for (short j = 0; j < kKeys; ++j)
      most[t] = max3(most[t], scores[t * kKeys + j].thread_elements()[0],
                     scores[t * kKeys + j].thread_elements()[1]);

  // Weights may be as large as 2^8 before a row's reference moves; the first step sets it.
  if (first_step || simd_any(max(most[0], most[1]) > 8.0f)) {
#pragma unroll
    for (short t = 0; t < 2; ++t) {
      float raise = row_max(most[t]), shrink = 0.0f;
      if (!first_step) {
        raise = max(raise, 0.0f);
        shrink = fast::exp2(-raise);
      }
      state.minus[t] -= raise;
      state.total[t] *= shrink;
#pragma unroll
      for (short j = 0; j < kKeys; ++j) {
        scores[t * kKeys + j].thread_elements()[0] -= raise;
        scores[t * kKeys + j].thread_elements()[1] -= raise;
      }
#pragma unroll
      for (short c = 0; c < kColumns; ++c) {
        state.sums[t * kColumns + c].thread_elements()[0] *= shrink;
        state.sums[t * kColumns + c].thread_elements()[1] *= shrink;
      }
    }
  }

#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    Operand<T> weights[2];
#pragma unroll
    for (short t = 0; t < 2; ++t) {
      const float x = fast::exp2(scores[t * kKeys + j].thread_elements()[0]);
      const float y = fast::exp2(scores[t * kKeys + j].thread_elements()[1]);
      state.total[t] += x + y;
      narrow(weights[t], x, y);
    }
#pragma unroll
    for (short p = 0; p < kColumns; p += WV / 2) {
      T part[WV];
      read<WV>(part, value + j * 8 * STRIDE + p * 8);
      Operand<T> two[WV / 2];
#pragma unroll
      for (short m = 0; m < WV / 2; ++m) two[m] = matrix_of(part[2 * m], part[2 * m + 1]);
      if (!MASKED || j == 0 || upper)
#pragma unroll
        for (short m = 0; m < WV / 2; ++m)
          simdgroup_multiply_accumulate(state.sums[p + m], weights[0], two[m], state.sums[p + m]);
#pragma unroll
      for (short m = 0; m < WV / 2; ++m)
        simdgroup_multiply_accumulate(state.sums[kColumns + p + m], weights[1], two[m],
                                      state.sums[kColumns + p + m]);
    }
  }
}
