constexpr short kColumns = D / 8, kKeys = STEP / 8;  // matrices; STEP keys of a tile at a time
constexpr short kOwn = 16, BQ = kOwn * SIMDGROUPS;  // queries of a SIMD-group, of the group
constexpr bool kMasked = CAUSAL || RAGGED;
// A sum over columns may take them in any order: the eight lanes that share a key's row read WK
// columns each at once, and matrix m of such a part holds columns WK r + m as its rows r. The four
// lanes that share a row of values read WV each, two for each matrix.
constexpr short WK = width_of<T>(8, D), WV = width_of<T>(4, D);
constexpr short kThreads = SIMDGROUPS * 32;
constexpr short V = 16 / sizeof(T);
constexpr short kStride = D + V;  // 16 bytes more a row: other banks
threadgroup uint4 key_memory[BK * kStride / V];
threadgroup uint4 value_memory[BK * kStride / V];
const threadgroup T* keys = (const threadgroup T*)key_memory;
const threadgroup T* values = (const threadgroup T*)value_memory;

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

const float factor = scale * M_LOG2E_F;  // scores are exponents of two
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
          matrix_of(T(factor * float(first[m])), T(factor * float(second[m])));
  }
#pragma unroll
  for (short c = 0; c < kColumns; ++c) sums[t * kColumns + c] = matrix_of(0.0f, 0.0f);
}
// Scores are computed relative to the row's reference: their sums start at minus the reference.
float minus[2] = {0.0f, 0.0f}, total[2] = {0.0f, 0.0f};

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
for (int at = 0; at < end; at += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage<D, kStride, BK, kThreads, RAGGED>(key_memory, from_k + at * D, thread_index, Lk - at);
  stage<D, kStride, BK, kThreads, RAGGED>(value_memory, from_v + at * D, thread_index, Lk - at);
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
  for (short step = 0; step < BK; step += STEP) {
    const int from = at + step;
    // Keys of the step that all of the SIMD-group's queries see, and that any of them sees.
    const int whole = (CAUSAL ? min(own + hidden, Lk - 1) : Lk - 1) - from + 1;
    const int seen = (CAUSAL ? min(own + kOwn - 1 + hidden, Lk - 1) : Lk - 1) - from + 1;
    if (kMasked && seen <= 0) break;
    const threadgroup T* key = keys + (step + place.column) * kStride + place.row * WK;
    Sums scores[2 * kKeys];
    float most[2] = {kHidden, kHidden};
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      scores[j] = matrix_of(minus[0], minus[0]);
      scores[kKeys + j] = matrix_of(minus[1], minus[1]);
      if (!kMasked || j * 8 < seen) {
#pragma unroll
        for (short p = 0; p < kColumns; p += WK) {
          T first[WK], second[WK];
          read<WK>(first, key + j * 8 * kStride + p * 8);
          read<WK>(second, key + j * 8 * kStride + kStride + p * 8);
#pragma unroll
          for (short m = 0; m < WK; ++m) {
            const Operand<T> pair = matrix_of(first[m], second[m]);
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
                (CAUSAL ? min(query + t * 8 + hidden, Lk - 1) : Lk - 1) - from - j * 8 - place.column;
            if (left < 0) score.thread_elements()[0] = kHidden;
            if (left < 1) score.thread_elements()[1] = kHidden;
          }
          most[t] = max3(most[t], score.thread_elements()[0], score.thread_elements()[1]);
        }
      }
    }

    // Weights may be as large as 2^8 before a row's reference moves; the first tile sets it.
    if (from == 0 || simd_any(max(most[0], most[1]) > 8.0f)) {
#pragma unroll
      for (short t = 0; t < 2; ++t) {
        float raise = row_max(most[t]), shrink = 0.0f;
        if (from != 0) {
          raise = max(raise, 0.0f);
          shrink = fast::exp2(-raise);
        }
        minus[t] -= raise;
        total[t] *= shrink;
#pragma unroll
        for (short j = 0; j < kKeys; ++j) {
          scores[t * kKeys + j].thread_elements()[0] -= raise;
          scores[t * kKeys + j].thread_elements()[1] -= raise;
        }
#pragma unroll
        for (short c = 0; c < kColumns; ++c) {
          sums[t * kColumns + c].thread_elements()[0] *= shrink;
          sums[t * kColumns + c].thread_elements()[1] *= shrink;
        }
      }
    }

    const threadgroup T* value = values + (step + place.row) * kStride + place.column / 2 * WV;
#pragma unroll
    for (short j = 0; j < kKeys; ++j)
      if (!kMasked || j * 8 < seen) {
        Operand<T> weights[2];
#pragma unroll
        for (short t = 0; t < 2; ++t) {
          float x = fast::exp2(scores[t * kKeys + j].thread_elements()[0]);
          float y = fast::exp2(scores[t * kKeys + j].thread_elements()[1]);
          T narrow_x, narrow_y;
          narrow(narrow_x, x);
          narrow(narrow_y, y);
          total[t] += x + y;
          weights[t] = matrix_of(narrow_x, narrow_y);
        }
#pragma unroll
        for (short p = 0; p < kColumns; p += WV / 2) {
          T part_v[WV];
          read<WV>(part_v, value + j * 8 * kStride + p * 8);
#pragma unroll
          for (short m = 0; m < WV / 2; ++m) {
            const Operand<T> two = matrix_of(part_v[2 * m], part_v[2 * m + 1]);
            simdgroup_multiply_accumulate(sums[p + m], weights[0], two, sums[p + m]);
            simdgroup_multiply_accumulate(sums[kColumns + p + m], weights[1], two,
                                          sums[kColumns + p + m]);
          }
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
    for (short p = 0; p < kColumns; p += WV / 2) {
      T part[WV];
#pragma unroll
      for (short m = 0; m < WV / 2; ++m) {
        thread Sums& sum = sums[t * kColumns + p + m];
        part[2 * m] = T(sum.thread_elements()[0] * share);
        part[2 * m + 1] = T(sum.thread_elements()[1] * share);
      }
      write<WV>(to + t * 8 * D + p * 8, part);
    }
  }
}
