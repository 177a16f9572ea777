constexpr short kColumns = D / 8;            // matrices
constexpr short BQ = kOwn * SIMDGROUPS;      // queries of the group, SPLIT SIMD-groups for each 16
constexpr bool kMasked = CAUSAL || RAGGED;
// A sum over columns may take them in any order: the eight lanes that share a key's row read WK
// columns each at once, and matrix m of such a part holds columns WK r + m as its rows r. The four
// lanes that share a row of values read WV each, two for each matrix.
constexpr short WK = width_of<T>(8, D), WV = width_of<T>(4, D);
constexpr short kThreads = SIMDGROUPS * SPLIT * 32;
constexpr short V = 16 / sizeof(T);
constexpr short kStride = D + V;  // 16 bytes more a row: other banks
threadgroup uint4 memory[2 * BK * kStride / V];
threadgroup float totals[SPLIT == 2 ? 64 * SIMDGROUPS : 1];
threadgroup float references[SPLIT == 2 ? 64 * SIMDGROUPS : 1];
threadgroup uint4* key_memory = memory;
threadgroup uint4* value_memory = memory + BK * kStride / V;

const Place place = place_of(thread_index_in_simdgroup);
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup;
const uint head = threadgroup_position_in_grid.y;
// With a mask the last queries see the most keys: they begin first.
const int block = CAUSAL ? (Lq - 1) / BQ - int(threadgroup_position_in_grid.x)
                         : int(threadgroup_position_in_grid.x);
// Of each tile the SIMD-groups of a part take their keys.
const int part_of_keys = int(simdgroup_index_in_threadgroup) / SIMDGROUPS;
const int place_in_part = int(simdgroup_index_in_threadgroup) % SIMDGROUPS;
const int start = part_of_keys * (BK / SPLIT), stop = start + BK / SPLIT;
const int own = block * BQ + place_in_part * kOwn;  // first query of this SIMD-group
const int query = own + place.row;
const device T* from_q = q + (ulong(head) * Lq + query) * D + place.column * WK;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;

const float factor = scale * M_LOG2E_F;  // scores are exponents of two
State<T, D> state;
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
      state.queries[t * kColumns + p + m] =
          matrix_of(T(factor * float(first[m])), T(factor * float(second[m])));
  }
#pragma unroll
  for (short c = 0; c < kColumns; ++c) state.sums[t * kColumns + c] = matrix_of(0.0f, 0.0f);
  state.minus[t] = 0.0f;
  state.total[t] = 0.0f;
}
const threadgroup T* keys =
    (const threadgroup T*)key_memory + place.column * kStride + place.row * WK;
const threadgroup T* values =
    (const threadgroup T*)value_memory + place.row * kStride + place.column / 2 * WV;

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
// Keys that all of the SIMD-group's queries see, and that any of them sees.
const int whole = CAUSAL ? min(own + hidden + 1, Lk) : Lk;
const int seen = CAUSAL ? min(own + kOwn + hidden, Lk) : Lk;
for (int at = 0; at < end; at += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage<D, kStride, BK, kThreads, RAGGED>(key_memory, from_k + at * D, thread_index, Lk - at);
  stage<D, kStride, BK, kThreads, RAGGED>(value_memory, from_v + at * D, thread_index, Lk - at);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int step = start;
  // Where Lk does not fit the tiles there is one form of a step alone: less to compile.
  if constexpr (!RAGGED) {
#pragma clang loop unroll(disable)
    for (; step + BIG <= min(stop, CAUSAL ? whole - at : stop); step += BIG)
      step_of<BIG, false, kStride, WK, WV>(state, keys + step * kStride, values + step * kStride,
                                           0, 0, at + step == start, true);
  }
  if constexpr (kMasked) {
#pragma clang loop unroll(disable)
    for (; step < min(stop, seen - at); step += 16) {
      const int first_key = at + step + place.column;
      const int left = (CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1) - first_key;
      const int left_below = (CAUSAL ? min(query + 8 + hidden, Lk - 1) : Lk - 1) - first_key;
      const bool upper = !CAUSAL || own + hidden >= at + step + 1;
      step_of<16, true, kStride, WK, WV>(state, keys + step * kStride, values + step * kStride, left,
                                         left_below, at + step == start, upper);
    }
  }
}

float sum_of_weights[2] = {row_sum(state.total[0]), row_sum(state.total[1])};
if constexpr (SPLIT == 2) {
  threadgroup float* joined = (threadgroup float*)memory;
  constexpr int kLanes = SIMDGROUPS * 32;
  const int lane = place_in_part * 32 + int(thread_index_in_simdgroup);
#pragma unroll
  for (short t = 0; t < 2; ++t) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (part_of_keys == 1) {
      totals[t * kLanes + lane] = sum_of_weights[t];
      references[t * kLanes + lane] = sum_of_weights[t] == 0.0f ? kHidden : -state.minus[t];
#pragma unroll
      for (short c = 0; c < kColumns; ++c) {
        joined[2 * c * kLanes + lane] = state.sums[t * kColumns + c].thread_elements()[0];
        joined[(2 * c + 1) * kLanes + lane] = state.sums[t * kColumns + c].thread_elements()[1];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (part_of_keys == 0) {
      const float other = references[t * kLanes + lane];
      const float largest = max(other, -state.minus[t]);
      const float mine = fast::exp2(-state.minus[t] - largest), theirs = fast::exp2(other - largest);
      sum_of_weights[t] = sum_of_weights[t] * mine + totals[t * kLanes + lane] * theirs;
#pragma unroll
      for (short c = 0; c < kColumns; ++c) {
        thread Sums& sum = state.sums[t * kColumns + c];
        sum.thread_elements()[0] =
            sum.thread_elements()[0] * mine + joined[2 * c * kLanes + lane] * theirs;
        sum.thread_elements()[1] =
            sum.thread_elements()[1] * mine + joined[(2 * c + 1) * kLanes + lane] * theirs;
      }
    }
  }
}

device T* to = out + (ulong(head) * Lq + query) * D + place.column / 2 * WV;
#pragma unroll
for (short t = 0; t < 2; ++t) {
  const float share = 1.0f / sum_of_weights[t];
  if (part_of_keys == 0 && query + t * 8 < Lq) {
#pragma unroll
    for (short p = 0; p < kColumns; p += WV / 2) {
      T part[WV];
#pragma unroll
      for (short m = 0; m < WV / 2; ++m) {
        thread Sums& sum = state.sums[t * kColumns + p + m];
        part[2 * m] = T(sum.thread_elements()[0] * share);
        part[2 * m + 1] = T(sum.thread_elements()[1] * share);
      }
      write<WV>(to + t * 8 * D + p * 8, part);
    }
  }
}
