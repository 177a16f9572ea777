constexpr short kOwn = 8 * ROWS, BQ = kOwn * SIMDGROUPS;  // queries of a SIMD-group, of the group
constexpr bool kMasked = CAUSAL || RAGGED;
constexpr short kThreads = 32 * SIMDGROUPS, V = 16 / sizeof(T);
constexpr short kStride = D + V;           // 16 bytes more a row: other banks
constexpr short kTile = BK * kStride / V;  // keys or values of a tile, in 16 bytes
threadgroup uint4 memory[BUFFERS * 2 * kTile];

const Place place = place_of(thread_index_in_simdgroup);
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup;
const uint head = threadgroup_position_in_grid.y;
// With a mask the last queries see the most keys: they begin first.
const int block = CAUSAL ? (Lq - 1) / BQ - int(threadgroup_position_in_grid.x)
                         : int(threadgroup_position_in_grid.x);
// First query of this SIMD-group, and of this lane.
const int own = block * BQ + simdgroup_index_in_threadgroup * kOwn, query = own + place.row;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;

// Scores are exponents of two. Where queries do not hold the scale they hold its sign; its size is
// never so small that a hidden key would be seen.
const float powers = scale * M_LOG2E_F;
const float factor = hold_scale<T>() ? 1.0f : max(abs(powers), 1e-25f);
const float of_queries = hold_scale<T>() ? powers : scale < 0.0f ? -1.0f : 1.0f;
State<T, D, ROWS> state;
load_queries<0, D, width_of<T>(8, D)>(state, q + ulong(head) * Lq * D, place.column, query, Lq,
                                      of_queries);
#pragma unroll
for (short t = 0; t < ROWS; ++t) {
#pragma unroll
  for (short c = 0; c < D / 8; ++c) state.sums[t * (D / 8) + c] = matrix_of(0.0f, 0.0f);
  state.starts[t] = matrix_of(0.0f, 0.0f);
  state.total[t] = 0.0f;
}
const threadgroup T* keys = (const threadgroup T*)memory + place.column * kStride;
const threadgroup T* values = (const threadgroup T*)(memory + kTile) + place.row * kStride;

const int hidden = Lk - Lq;
const int end = CAUSAL ? min(Lk, (block + 1) * BQ + hidden) : Lk;  // keys that the group sees
// Keys that all of the SIMD-group's queries see, and that any of them sees.
const int whole = CAUSAL ? min(own + hidden + 1, Lk) : Lk;
const int seen = CAUSAL ? min(own + kOwn + hidden, Lk) : Lk;
int left[ROWS] = {};
constexpr short kParts = (BK * D / V + kThreads - 1) / kThreads;
uint4 next_keys[kParts], next_values[kParts];
fetch<D, BK, kThreads, RAGGED>(next_keys, from_k, thread_index, Lk);
fetch<D, BK, kThreads, RAGGED>(next_values, from_v, thread_index, Lk);
put<D, kStride, BK, kThreads, T>(memory, next_keys, thread_index);
put<D, kStride, BK, kThreads, T>(memory + kTile, next_values, thread_index);
threadgroup_barrier(mem_flags::mem_threadgroup);
int buffer = 0;  // where the tile is, in 16 bytes
for (int at = 0; at < end; at += BK) {
  const bool more = at + BK < end;
  if (more) {
    fetch<D, BK, kThreads, RAGGED>(next_keys, from_k + (at + BK) * D, thread_index, Lk - at - BK);
    fetch<D, BK, kThreads, RAGGED>(next_values, from_v + (at + BK) * D, thread_index, Lk - at - BK);
  }
  const threadgroup T* tile_keys = keys + buffer * V;
  const threadgroup T* tile_values = values + buffer * V;
  if (!kMasked || at + BK <= whole) {
    step_of<BK, false, kStride>(state, tile_keys, tile_values, place, factor, at == 0, BK, left);
  } else if constexpr (kMasked) {
#pragma clang loop unroll(disable)
    for (short step = 0; step < min(int(BK), seen - at); step += 16) {
#pragma unroll
      for (short t = 0; t < ROWS; ++t)
        left[t] =
            (CAUSAL ? min(query + t * 8 + hidden, Lk - 1) : Lk - 1) - at - step - place.column;
      step_of<16, true, kStride>(state, tile_keys + step * kStride, tile_values + step * kStride,
                                 place, factor, at + step == 0, seen - at - step, left);
    }
  }
  // With two buffers the other one was last read before the barrier of the tile before.
  if constexpr (BUFFERS == 1) threadgroup_barrier(mem_flags::mem_threadgroup);
  if constexpr (BUFFERS == 2) buffer = 2 * kTile - buffer;
  if (more) {
    put<D, kStride, BK, kThreads, T>(memory + buffer, next_keys, thread_index);
    put<D, kStride, BK, kThreads, T>(memory + buffer + kTile, next_values, thread_index);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

float share[ROWS];
#pragma unroll
for (short t = 0; t < ROWS; ++t) share[t] = 1.0f / row_sum(state.total[t]);
store_sums<0, D, width_of<T>(4, D)>(out + ulong(head) * Lq * D, state, share, place.column / 2,
                                    query, Lq);
