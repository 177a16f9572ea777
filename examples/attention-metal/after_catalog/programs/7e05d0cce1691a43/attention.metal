constexpr short kColumns = D / 8;            // matrices
constexpr short BQ = kOwn * SIMDGROUPS;      // queries of the group
constexpr bool kMasked = CAUSAL || RAGGED;
constexpr bool kBySum = !CAUSAL || D > 64;
// A sum over columns may take them in any order: the eight lanes that share a key's row read WK
// columns each at once, and matrix m of such a part holds columns WK r + m as its rows r. The four
// lanes that share a row of values read WV each, two for each matrix.
constexpr short WK = width_of<T>(8, D), WV = width_of<T>(4, D);
constexpr short kThreads = SIMDGROUPS * 32;
constexpr short V = 16 / sizeof(T);
constexpr short kStride = D + V;  // 16 bytes more a row: other banks
constexpr short kTile = BK * kStride / V;  // keys or values of a tile, in 16 bytes
threadgroup uint4 memory[BUFFERS * 2 * kTile];

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
  state.starts[t] = matrix_of(0.0f, 0.0f);
  state.total[t] = 0.0f;
}
const threadgroup T* keys =
    (const threadgroup T*)memory + place.column * kStride + place.row * WK;
const threadgroup T* values =
    (const threadgroup T*)(memory + kTile) + place.row * kStride + place.column / 2 * WV;

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
// Keys that all of the SIMD-group's queries see, and that any of them sees.
const int whole = CAUSAL ? min(own + hidden + 1, Lk) : Lk;
const int seen = CAUSAL ? min(own + kOwn + hidden, Lk) : Lk;
constexpr short kParts = (BK * D / V + kThreads - 1) / kThreads;
uint4 next_keys[kParts], next_values[kParts];
int offset = 0;  // of the tile's buffer, in elements
if constexpr (BUFFERS == 2) {
  fetch<D, BK, kThreads, RAGGED>(next_keys, from_k, thread_index, Lk);
  fetch<D, BK, kThreads, RAGGED>(next_values, from_v, thread_index, Lk);
  put<D, kStride, BK, kThreads, T>(memory, next_keys, thread_index);
  put<D, kStride, BK, kThreads, T>(memory + kTile, next_values, thread_index);
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
for (int at = 0; at < end; at += BK) {
  if constexpr (BUFFERS == 1) {
    fetch<D, BK, kThreads, RAGGED>(next_keys, from_k + at * D, thread_index, Lk - at);
    fetch<D, BK, kThreads, RAGGED>(next_values, from_v + at * D, thread_index, Lk - at);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    put<D, kStride, BK, kThreads, T>(memory, next_keys, thread_index);
    put<D, kStride, BK, kThreads, T>(memory + kTile, next_values, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else if (at + BK < end) {
    fetch<D, BK, kThreads, RAGGED>(next_keys, from_k + (at + BK) * D, thread_index, Lk - at - BK);
    fetch<D, BK, kThreads, RAGGED>(next_values, from_v + (at + BK) * D, thread_index, Lk - at - BK);
  }
  int step = 0;
  // Where Lk does not fit the tiles there is one form of a step alone: less to compile.
  if constexpr (!RAGGED) {
#pragma clang loop unroll(disable)
    for (; step + BIG <= min(BK, CAUSAL ? whole - at : BK); step += BIG)
      step_of<BIG, false, kBySum, kStride, WK, WV>(state, keys + offset + step * kStride,
                                           values + offset + step * kStride,
                                           0, 0, at + step == 0, true);
  }
  if constexpr (kMasked) {
#pragma clang loop unroll(disable)
    for (; step < min(BK, seen - at); step += 16) {
      const int first_key = at + step + place.column;
      const int left = (CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1) - first_key;
      const int left_below = (CAUSAL ? min(query + 8 + hidden, Lk - 1) : Lk - 1) - first_key;
      const bool upper = !CAUSAL || own + hidden >= at + step + 1;
      step_of<16, true, false, kStride, WK, WV>(state, keys + offset + step * kStride,
                                           values + offset + step * kStride, left,
                                         left_below, at + step == 0, upper);
    }
  }
  if constexpr (BUFFERS == 2) {
    // The other buffer was last read before the barrier of the tile before.
    offset = 2 * kTile * V - offset;
    if (at + BK < end) {
      put<D, kStride, BK, kThreads, T>(memory + offset / V, next_keys, thread_index);
      put<D, kStride, BK, kThreads, T>(memory + offset / V + kTile, next_values, thread_index);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

device T* to = out + (ulong(head) * Lq + query) * D + place.column / 2 * WV;
#pragma unroll
for (short t = 0; t < 2; ++t) {
  const float share = 1.0f / row_sum(state.total[t]);
  if (query + t * 8 < Lq) {
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
