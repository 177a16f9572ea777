constexpr short kColumns = D / 8, kKeys = BK / 8;  // matrices
constexpr short kOwn = 8, BQ = kOwn * SIMDGROUPS;  // queries of a SIMD-group, of the group
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
const int block = threadgroup_position_in_grid.x;
const int own =
    block * BQ + simdgroup_index_in_threadgroup * kOwn;  // first query of this SIMD-group
const int query = own + place.row;
const device T* from_q = q + (ulong(head) * Lq + query) * D + place.column * WK;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;

const float sign = scale < 0.0f ? -1.0f : 1.0f;  // the largest score is that of the largest product
Operand<T> queries[kColumns];
Sums sums[kColumns];
#pragma unroll
for (short p = 0; p < kColumns; p += WK) {
  T first[WK] = {}, second[WK] = {};
  if (query < Lq) {
    read<WK>(first, from_q + p * 8);
    read<WK>(second, from_q + p * 8 + WK);
  }
#pragma unroll
  for (short m = 0; m < WK; ++m)
    queries[p + m] = matrix_of(T(sign * float(first[m])), T(sign * float(second[m])));
}
#pragma unroll
for (short c = 0; c < kColumns; ++c) sums[c] = matrix_of(0.0f, 0.0f);
float largest = kHidden, total = 0.0f;
const float factor = abs(scale) * M_LOG2E_F;  // of a power of two

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
constexpr short kEach = (BK * D * sizeof(T) / 16 + kThreads - 1) / kThreads * 16 / sizeof(T);
T next_k[kEach], next_v[kEach];  // this thread's part of the next tile
fetch<D, BK, kThreads, RAGGED>(next_k, from_k, thread_index, Lk);
fetch<D, BK, kThreads, RAGGED>(next_v, from_v, thread_index, Lk);
for (int at = 0; at < end; at += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  put<D, kStride, BK, kThreads>(keys, next_k, thread_index);
  put<D, kStride, BK, kThreads>(values, next_v, thread_index);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (at + BK < end) {
    fetch<D, BK, kThreads, RAGGED>(next_k, from_k + (at + BK) * D, thread_index, Lk - at - BK);
    fetch<D, BK, kThreads, RAGGED>(next_v, from_v + (at + BK) * D, thread_index, Lk - at - BK);
  }
  // Keys of the tile that all of the SIMD-group's queries see, and that any of them sees.
  const int whole = (CAUSAL ? min(own + hidden, Lk - 1) : Lk - 1) - at + 1;
  const int seen = (CAUSAL ? min(own + kOwn - 1 + hidden, Lk - 1) : Lk - 1) - at + 1;
  const threadgroup T* key = keys + place.column * kStride + place.row * WK;
  Sums scores[kKeys];
  float most = kHidden;
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    scores[j] = matrix_of(0.0f, 0.0f);
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
        }
      }
      if (kMasked && j * 8 + 8 > whole) {
        const int left =
            (CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1) - at - j * 8 - place.column;
        if (left < 0) scores[j].thread_elements()[0] = kHidden;
        if (left < 1) scores[j].thread_elements()[1] = kHidden;
      }
      most = max3(most, scores[j].thread_elements()[0], scores[j].thread_elements()[1]);
    }
  }

  most = row_max(most) * factor;
  // Weights may be as large as 2^8 before a row's reference moves.
  if (simd_any(most > largest + 8.0f)) {
    most = max(most, largest);
    const float shrink = exp2(largest - most);
    largest = most;
    total *= shrink;
#pragma unroll
    for (short c = 0; c < kColumns; ++c) {
      sums[c].thread_elements()[0] *= shrink;
      sums[c].thread_elements()[1] *= shrink;
    }
  }

  const threadgroup T* value = values + place.row * kStride + place.column / 2 * WV;
#pragma unroll
  for (short j = 0; j < kKeys; ++j)
    if (!kMasked || j * 8 < seen) {
      const float x = exp2(scores[j].thread_elements()[0] * factor - largest);
      const float y = exp2(scores[j].thread_elements()[1] * factor - largest);
      total += x + y;
      Operand<T> weights = matrix_of(T(x), T(y));
#pragma unroll
      for (short p = 0; p < kColumns; p += WV / 2) {
        T part_v[WV];
        read<WV>(part_v, value + j * 8 * kStride + p * 8);
#pragma unroll
        for (short m = 0; m < WV / 2; ++m) {
          Operand<T> two = matrix_of(part_v[2 * m], part_v[2 * m + 1]);
          simdgroup_multiply_accumulate(sums[p + m], weights, two, sums[p + m]);
        }
      }
    }
}

device T* to = out + (ulong(head) * Lq + query) * D + place.column / 2 * WV;
const float share = 1.0f / row_sum(total);
if (query < Lq) {
#pragma unroll
  for (short p = 0; p < kColumns; p += WV / 2)
#pragma unroll
    for (short m = 0; m < WV / 2; ++m) {
      to[p * 8 + 2 * m] = T(sums[p + m].thread_elements()[0] * share);
      to[p * 8 + 2 * m + 1] = T(sums[p + m].thread_elements()[1] * share);
    }
}
