constexpr short kColumns = D / 8, kKeys = BK / 8;   // matrices
constexpr short kOwn = 16, BQ = kOwn * SIMDGROUPS;  // queries of a SIMD-group, of the group
constexpr bool kMasked = CAUSAL || RAGGED;
// A sum over columns may take them in any order: the eight lanes that share a key's row read WK
// columns each at once, and matrix m of such a part holds columns WK r + m as its rows r. The four
// lanes that share a row of values read WV each, two for each matrix.
constexpr short WK = width_of<T>(8, D), WV = width_of<T>(4, D);
constexpr short kThreads = SIMDGROUPS * 32;
constexpr short kStride = D + 16 / sizeof(T);  // 16 bytes more a row: other banks
threadgroup T keys[BK * kStride];
threadgroup T values[BK * kStride];

const Place place = place_of(thread_index_in_simdgroup);
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup;
const uint head = threadgroup_position_in_grid.y;
// With a mask the last queries see the most keys: they begin first.
const int block = CAUSAL ? (Lq - 1) / BQ - int(threadgroup_position_in_grid.x)
                         : int(threadgroup_position_in_grid.x);
const int own =
    block * BQ + simdgroup_index_in_threadgroup * kOwn;  // first query of this SIMD-group
const int query = own + place.row;
const device T* from_q = q + (ulong(head) * Lq + query) * D + place.column * WK;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;

const float sign = scale < 0.0f ? -1.0f : 1.0f;  // the largest score is that of the largest product
Operand<T> queries[2 * kColumns];
Sums sums[2 * kColumns];
#pragma unroll
for (short t = 0; t < 2; ++t) {
#pragma unroll
  for (short p = 0; p < kColumns; p += WK) {
    T first[WK] = {}, second[WK] = {};
    if (query + t * 8 < Lq) {
      read<WK>(first, from_q + t * 8 * D + p * 8);
      read<WK>(second, from_q + t * 8 * D + p * 8 + WK);
    }
#pragma unroll
    for (short m = 0; m < WK; ++m)
      queries[t * kColumns + p + m] =
          matrix_of(T(sign * float(first[m])), T(sign * float(second[m])));
  }
#pragma unroll
  for (short c = 0; c < kColumns; ++c) sums[t * kColumns + c] = matrix_of(0.0f, 0.0f);
}
float largest[2] = {kHidden, kHidden}, total[2] = {0.0f, 0.0f};
const float factor = abs(scale) * M_LOG2E_F;  // of a power of two

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
for (int at = 0; at < end; at += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage<D, kStride, BK, kThreads, RAGGED>(keys, from_k + at * D, thread_index, Lk - at);
  stage<D, kStride, BK, kThreads, RAGGED>(values, from_v + at * D, thread_index, Lk - at);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  // Keys of the tile that all of the SIMD-group's queries see, and that any of them sees.
  const int whole = (CAUSAL ? min(own + hidden, Lk - 1) : Lk - 1) - at + 1;
  const int seen = (CAUSAL ? min(own + kOwn - 1 + hidden, Lk - 1) : Lk - 1) - at + 1;
  const threadgroup T* key = keys + place.column * kStride + place.row * WK;
  Sums scores[2 * kKeys];
  float most[2] = {kHidden, kHidden};
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    scores[j] = matrix_of(0.0f, 0.0f);
    scores[kKeys + j] = matrix_of(0.0f, 0.0f);
    if (!kMasked || j * 8 < seen) {
#pragma unroll
      for (short p = 0; p < kColumns; p += WK) {
        T first[WK], second[WK];
        read<WK>(first, key + j * 8 * kStride + p * 8);
        read<WK>(second, key + j * 8 * kStride + kStride + p * 8);
#pragma unroll
        for (short m = 0; m < WK; ++m) {
          Operand<T> pair = matrix_of(first[m], second[m]);
          simdgroup_multiply_accumulate(scores[j], queries[p + m], pair, scores[j]);
          simdgroup_multiply_accumulate(scores[kKeys + j], queries[kColumns + p + m], pair,
                                        scores[kKeys + j]);
        }
      }
#pragma unroll
      for (short t = 0; t < 2; ++t) {
        thread Sums& score = scores[t * kKeys + j];
        if (kMasked && j * 8 + 8 > whole) {
          const int left =
              (CAUSAL ? min(query + t * 8 + hidden, Lk - 1) : Lk - 1) - at - j * 8 - place.column;
          if (left < 0) score.thread_elements()[0] = kHidden;
          if (left < 1) score.thread_elements()[1] = kHidden;
        }
        most[t] = max3(most[t], score.thread_elements()[0], score.thread_elements()[1]);
      }
    }
  }

#pragma unroll
  for (short t = 0; t < 2; ++t) most[t] = row_max(most[t]) * factor;
  // Weights may be as large as 2^8 before a row's reference moves.
  if (simd_any(most[0] > largest[0] + 8.0f || most[1] > largest[1] + 8.0f)) {
#pragma unroll
    for (short t = 0; t < 2; ++t) {
      most[t] = max(most[t], largest[t]);
      const float shrink = exp2(largest[t] - most[t]);
      largest[t] = most[t];
      total[t] *= shrink;
#pragma unroll
      for (short c = 0; c < kColumns; ++c) {
        sums[t * kColumns + c].thread_elements()[0] *= shrink;
        sums[t * kColumns + c].thread_elements()[1] *= shrink;
      }
    }
  }

  const threadgroup T* value = values + place.row * kStride + place.column / 2 * WV;
#pragma unroll
  for (short j = 0; j < kKeys; ++j)
    if (!kMasked || j * 8 < seen) {
      Operand<T> weights[2];
#pragma unroll
      for (short t = 0; t < 2; ++t) {
        const float x = exp2(scores[t * kKeys + j].thread_elements()[0] * factor - largest[t]);
        const float y = exp2(scores[t * kKeys + j].thread_elements()[1] * factor - largest[t]);
        total[t] += x + y;
        weights[t] = matrix_of(T(x), T(y));
      }
#pragma unroll
      for (short p = 0; p < kColumns; p += WV / 2) {
        T part_v[WV];
        read<WV>(part_v, value + j * 8 * kStride + p * 8);
#pragma unroll
        for (short m = 0; m < WV / 2; ++m) {
          Operand<T> two = matrix_of(part_v[2 * m], part_v[2 * m + 1]);
          simdgroup_multiply_accumulate(sums[p + m], weights[0], two, sums[p + m]);
          simdgroup_multiply_accumulate(sums[kColumns + p + m], weights[1], two,
                                        sums[kColumns + p + m]);
        }
      }
    }
}

device T* to = out + (ulong(head) * Lq + query) * D + place.column / 2 * WV;
#pragma unroll
for (short t = 0; t < 2; ++t) {
  const float share = 1.0f / row_sum(total[t]);
  if (query + t * 8 < Lq) {
#pragma unroll
    for (short p = 0; p < kColumns; p += WV / 2)
#pragma unroll
      for (short m = 0; m < WV / 2; ++m) {
        thread Sums& sum = sums[t * kColumns + p + m];
        to[t * 8 * D + p * 8 + 2 * m] = T(sum.thread_elements()[0] * share);
        to[t * 8 * D + p * 8 + 2 * m + 1] = T(sum.thread_elements()[1] * share);
      }
  }
}
