// A SIMD-group takes ROWS rows of matrices, 8 queries each: scores, weights and sums are 8x8
// matrices in its registers, queries too. Keys and values are staged in threadgroup memory as they
// lie in device memory.
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

/// N neighbouring elements by one access of up to 16 bytes.
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
    *(device uint4*)to = uint4(low, high);
  } else if constexpr (N == 4) {
    *(device vec<T, 4>*)to = vec<T, 4>(from[0], from[1], from[2], from[3]);
  } else {
    for (int e = 0; e < N; ++e) to[e] = from[e];
  }
}

/// ROWS rows to group memory, 16 bytes a thread at a time; rows from `rows` on are zeros.
template <short D, short STRIDE, short ROWS, short THREADS, bool RAGGED, typename T>
METAL_FUNC void stage(threadgroup uint4* to, const device T* from, ushort thread_index, int rows) {
  constexpr ushort V = 16 / sizeof(T), W = D / V, parts = ROWS * W;
#pragma unroll
  for (ushort i = 0; i * THREADS < parts; ++i) {
    const ushort n = i * THREADS + thread_index;
    if (parts % THREADS == 0 || n < parts) {
      uint4 part = uint4(0u);
      if (!RAGGED || n < rows * W) part = ((const device uint4*)from)[n];
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

/// Of `columns` those that `lanes` lanes read 16 bytes at a time; the rest goes in narrower parts.
template <typename T>
constexpr ushort wide(ushort lanes, ushort columns) {
  return columns - columns % (lanes * 16 / sizeof(T));
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

/// Whether queries hold the scale and log2(e), so that scores are exponents of two: bfloat is too
/// coarse for it.
template <typename T>
constexpr bool hold_scale() {
  return true;
}
template <>
constexpr bool hold_scale<bfloat>() {
  return false;
}

/// What a SIMD-group keeps of its ROWS rows of matrices, 8 queries each. Weights are powers of two
/// relative to a row's reference; a lane has a part of their total.
template <typename T, short D, short ROWS>
struct State {
  Operand<T> queries[ROWS * D / 8];
  Sums sums[ROWS * D / 8];
  Sums starts[ROWS];  // minus the reference, everywhere in a row: where scores begin
  float total[ROWS];
};

/// Rows of matrices are the queries of all heads that share keys: those of one query follow each
/// other.
struct Rows {
  int count, heads, queries;
  int query(int row) const { return row / heads; }
  int place(int row) const { return row % heads * queries + row / heads; }  // in memory
};

/// Queries of columns FROM to TO, W at a time as multiply_keys wants them: this lane's first row is
/// `row`; those that are not there are zeros.
template <short FROM, short TO, short W, typename T, short D, short ROWS>
METAL_FUNC void load_queries(thread State<T, D, ROWS>& state, const device T* from, ushort part,
                             int row, Rows rows, float factor) {
#pragma unroll
  for (short t = 0; t < ROWS; ++t)
#pragma unroll
    for (short p = FROM / 8; p < TO / 8; p += W) {
      T first[W] = {}, second[W] = {};
      if (row + t * 8 < rows.count) {
        const device T* at = from + rows.place(row + t * 8) * D + p * 8 + part * W;
        read<W>(first, at);
        read<W>(second, at + W);
      }
#pragma unroll
      for (short m = 0; m < W; ++m)
        state.queries[t * (D / 8) + p + m] =
            matrix_of(T(factor * float(first[m])), T(factor * float(second[m])));
    }
}

/// Scores of MATRICES times 8 keys for rows of matrices from ROW on, their part of columns FROM to
/// TO. A sum over columns may take them in any order: the eight lanes that share a key's row read W
/// columns each at once, and matrix m of such a part holds columns W r + m as its rows r. `key` is
/// the first row that this lane reads, `part` its place among the eight.
template <short FROM, short TO, short W, short ROW, short MATRICES, short KEYS, short STRIDE,
          typename T, short D, short ROWS>
METAL_FUNC void multiply_keys(thread Sums* scores, thread State<T, D, ROWS>& state,
                              const threadgroup T* key, ushort part) {
#pragma unroll
  for (short p = FROM / 8; p < TO / 8; p += W) {
    Operand<T> pairs[MATRICES * W];
#pragma unroll
    for (short i = 0; i < MATRICES; ++i) {
      T first[W], second[W];
      read<W>(first, key + i * 8 * STRIDE + p * 8 + part * W);
      read<W>(second, key + (i * 8 + 1) * STRIDE + p * 8 + part * W);
#pragma unroll
      for (short m = 0; m < W; ++m) pairs[i * W + m] = matrix_of(first[m], second[m]);
    }
#pragma unroll
    for (short m = 0; m < W; ++m)
#pragma unroll
      for (short i = 0; i < MATRICES; ++i)
#pragma unroll
        for (short t = ROW; t < ROWS; ++t)
          simdgroup_multiply_accumulate(scores[t * KEYS + i], state.queries[t * (D / 8) + p + m],
                                        pairs[i * W + m], scores[t * KEYS + i]);
  }
}

/// Adds weights of 8 keys for rows of matrices from ROW on times columns FROM to TO of their
/// values, of which the four lanes that share a row read W each, two for each matrix. `value` is
/// this lane's row, `part` its place.
template <short FROM, short TO, short W, short ROW, typename T, short D, short ROWS>
METAL_FUNC void multiply_values(thread State<T, D, ROWS>& state, thread Operand<T>* weights,
                                const threadgroup T* value, ushort part) {
#pragma unroll
  for (short p = FROM / 8; p < TO / 8; p += W / 2) {
    T two[W];
    read<W>(two, value + p * 8 + part * W);
#pragma unroll
    for (short m = 0; m < W / 2; ++m) {
      Operand<T> pair = matrix_of(two[2 * m], two[2 * m + 1]);
#pragma unroll
      for (short t = ROW; t < ROWS; ++t)
        simdgroup_multiply_accumulate(state.sums[t * (D / 8) + p + m], weights[t], pair,
                                      state.sums[t * (D / 8) + p + m]);
    }
  }
}

/// This lane's columns of its rows, FROM to TO, as multiply_values has them, times `share`.
template <short FROM, short TO, short W, typename T, short D, short ROWS>
METAL_FUNC void store_sums(device T* to, thread State<T, D, ROWS>& state, const thread float* share,
                           ushort part, int row, Rows rows) {
#pragma unroll
  for (short t = 0; t < ROWS; ++t) {
    if (row + t * 8 >= rows.count) continue;
#pragma unroll
    for (short p = FROM / 8; p < TO / 8; p += W / 2) {
      T two[W];
#pragma unroll
      for (short m = 0; m < W / 2; ++m) {
        thread Sums& sum = state.sums[t * (D / 8) + p + m];
        two[2 * m] = T(sum.thread_elements()[0] * share[t]);
        two[2 * m + 1] = T(sum.thread_elements()[1] * share[t]);
      }
      write<W>(to + rows.place(row + t * 8) * D + p * 8 + part * W, two);
    }
  }
}

/// Two weights as an operand. Nothing in the hardware rounds to bfloat: half of the last bit that
/// stays is added, the others are cut off.
template <typename T>
METAL_FUNC Operand<T> narrow(float x, float y) {
  return matrix_of(T(x), T(y));
}
template <>
METAL_FUNC Operand<bfloat> narrow<bfloat>(float x, float y) {
  const uint low = as_type<uint>(x) + 0x8000u, high = as_type<uint>(y) + 0x8000u;
  const vec<bfloat, 2> two = as_type<vec<bfloat, 2>>((high & 0xffff0000u) | (low >> 16));
  return matrix_of(two.x, two.y);
}

/// Weights of KEYS matrices of scores as operands, and what a lane has of their sums.
template <short KEYS, short ROWS, typename T>
METAL_FUNC void weigh(thread Operand<T>* weights, thread float* sum, thread Sums* scores,
                      float factor) {
#pragma unroll
  for (short t = 0; t < ROWS; ++t) {
    sum[t] = 0.0f;
#pragma unroll
    for (short j = 0; j < KEYS; ++j) {
      thread Sums& score = scores[t * KEYS + j];
      const float x = fast::exp2(score.thread_elements()[0] * factor);
      const float y = fast::exp2(score.thread_elements()[1] * factor);
      sum[t] += x + y;
      weights[j * ROWS + t] = narrow<T>(x, y);
    }
  }
}

/// Each row's reference becomes its largest score so far; sums and totals follow.
template <short KEYS, typename T, short D, short ROWS>
METAL_FUNC void move_references(thread State<T, D, ROWS>& state, thread Sums* scores, float factor,
                                bool first) {
#pragma unroll
  for (short t = 0; t < ROWS; ++t) {
    float most = kHidden;
#pragma unroll
    for (short j = 0; j < KEYS; ++j)
      most = max3(most, scores[t * KEYS + j].thread_elements()[0],
                  scores[t * KEYS + j].thread_elements()[1]);
    const float raise = first ? row_max(most) : max(row_max(most), 0.0f);
    const float shrink = first ? 0.0f : fast::exp2(-raise * factor);
    state.starts[t].thread_elements()[0] -= raise;
    state.starts[t].thread_elements()[1] -= raise;
#pragma unroll
    for (short j = 0; j < KEYS; ++j) {
      scores[t * KEYS + j].thread_elements()[0] -= raise;
      scores[t * KEYS + j].thread_elements()[1] -= raise;
    }
    state.total[t] *= shrink;
#pragma unroll
    for (short c = 0; c < D / 8; ++c) {
      state.sums[t * (D / 8) + c].thread_elements()[0] *= shrink;
      state.sums[t * (D / 8) + c].thread_elements()[1] *= shrink;
    }
  }
}

/// All columns of what the two above do.
template <short ROW, short MATRICES, short KEYS, short STRIDE, typename T, short D, short ROWS>
METAL_FUNC void score(thread Sums* scores, thread State<T, D, ROWS>& state,
                      const threadgroup T* key, Place place) {
  constexpr short kWide = wide<T>(8, D);
  multiply_keys<0, kWide, 16 / sizeof(T), ROW, MATRICES, KEYS, STRIDE>(scores, state, key,
                                                                       place.row);
  if constexpr (kWide < D)
    multiply_keys<kWide, D, width_of<T>(8, D - kWide), ROW, MATRICES, KEYS, STRIDE>(scores, state,
                                                                                    key, place.row);
}
template <short ROW, typename T, short D, short ROWS>
METAL_FUNC void add(thread State<T, D, ROWS>& state, thread Operand<T>* weights,
                    const threadgroup T* value, Place place) {
  constexpr short kWide = wide<T>(4, D);
  multiply_values<0, kWide, 16 / sizeof(T), ROW>(state, weights, value, place.column / 2);
  if constexpr (kWide < D)
    multiply_values<kWide, D, width_of<T>(4, D - kWide), ROW>(state, weights, value,
                                                              place.column / 2);
}

/// STEP keys of a tile. With a mask row t of matrices sees `seen[t]` of them, and this lane of it
/// those up to left[t] behind its first one. On the diagonal the last row sees more than the
/// others.
template <short STEP, bool MASKED, short STRIDE, typename T, short D, short ROWS>
METAL_FUNC void step_of(thread State<T, D, ROWS>& state, const threadgroup T* key,
                        const threadgroup T* value, Place place, float factor, bool first,
                        const thread int* seen, const thread int* left) {
  constexpr short kKeys = STEP / 8, kMatrices = MASKED ? 1 : 2;
  Sums scores[ROWS * kKeys];
#pragma unroll
  for (short j = 0; j < kKeys; j += kMatrices) {
#pragma unroll
    for (short t = 0; t < ROWS; ++t)
#pragma unroll
      for (short i = j; i < j + kMatrices; ++i) scores[t * kKeys + i] = state.starts[t];
    const threadgroup T* keys = key + j * 8 * STRIDE;
    if (!MASKED || j * 8 < seen[0])
      score<0, kMatrices, kKeys, STRIDE>(scores + j, state, keys, place);
    else if (j * 8 < seen[ROWS - 1])
      score<ROWS - 1, kMatrices, kKeys, STRIDE>(scores + j, state, keys, place);
  }
  if constexpr (MASKED) {
#pragma unroll
    for (short t = 0; t < ROWS; ++t)
#pragma unroll
      for (short j = 0; j < kKeys; ++j) {
        thread Sums& score = scores[t * kKeys + j];
        if (left[t] < j * 8) score.thread_elements()[0] = kHidden;
        if (left[t] < j * 8 + 1) score.thread_elements()[1] = kHidden;
      }
  }

  // Weights are right for any reference; up to 1024 they are safe in every type. Where a lane's sum
  // is larger the references move.
  Operand<T> weights[ROWS * kKeys];
  float sum[ROWS];
  weigh<kKeys, ROWS>(weights, sum, scores, factor);
  bool large = first;
#pragma unroll
  for (short t = 0; t < ROWS; ++t) large = large || !(sum[t] <= 1024.0f);
  if (simd_any(large)) {
    move_references<kKeys>(state, scores, factor, first);
    weigh<kKeys, ROWS>(weights, sum, scores, factor);
  }
#pragma unroll
  for (short t = 0; t < ROWS; ++t) state.total[t] += sum[t];

#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    if (!MASKED || j * 8 < seen[0])
      add<0>(state, weights + j * ROWS, value + j * 8 * STRIDE, place);
    else if (j * 8 < seen[ROWS - 1])
      add<ROWS - 1>(state, weights + j * ROWS, value + j * 8 * STRIDE, place);
  }
}
