constexpr short kOwn = 8 * ROWS, BQ = kOwn * SIMDGROUPS;  // queries of a SIMD-group, of the group
constexpr bool kMasked = CAUSAL || RAGGED;
constexpr short kThreads = 32 * SIMDGROUPS, V = 16 / sizeof(T);
constexpr short kStride = D + V;           // 16 bytes more a row: other banks
constexpr short kTile = BK * kStride / V;  // keys or values of a tile, in 16 bytes
threadgroup uint4 memory[2 * kTile];

const Place place = place_of(thread_index_in_simdgroup);
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup;
const Rows rows = {SHARED * Lq, SHARED, Lq};
// All heads' groups of the last queries, which see the most keys with a mask, begin first.
const uint head = threadgroup_position_in_grid.x;  // of keys
const int last = (rows.count - 1) / BQ, index = threadgroup_position_in_grid.y;
// In pairs a group takes two blocks, of which the one sees as many keys less than the mean as the
// other sees more.
for (int pass = 0; pass < 1 + PAIRED; ++pass) {
  const int block = CAUSAL && pass == 0 ? last - index : index;
  if (pass == 1 && block == last - index) break;  // the block in the middle has no other
  // First row of this SIMD-group, and of this lane.
  const int own = block * BQ + simdgroup_index_in_threadgroup * kOwn, row = own + place.row;
  const device T* from_q = q + ulong(head) * rows.count * D;
  const device T* from_k = k + ulong(head) * Lk * D;
  const device T* from_v = v + ulong(head) * Lk * D;

  // Scores are exponents of two. Where queries do not hold the scale they hold its sign; its size is
  // never so small that a hidden key would be seen.
  const float powers = scale * M_LOG2E_F;
  const float factor = hold_scale<T>() ? 1.0f : max(abs(powers), 1e-25f);
  const float of_queries = hold_scale<T>() ? powers : scale < 0.0f ? -1.0f : 1.0f;
  State<T, D, ROWS> state;
  constexpr short kWideK = wide<T>(8, D), kWideV = wide<T>(4, D);
  load_queries<0, kWideK, V>(state, from_q, place.column, row, rows, of_queries);
  if constexpr (kWideK < D)
    load_queries<kWideK, D, width_of<T>(8, D - kWideK)>(state, from_q, place.column, row, rows,
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
  // Keys that the group sees.
  const int end = CAUSAL ? min(Lk, rows.query((block + 1) * BQ - 1) + 1 + hidden) : Lk;
  // Keys that all of the SIMD-group's queries see, and that any of them sees.
  const int whole = CAUSAL ? min(rows.query(own) + hidden + 1, Lk) : Lk;
  const int seen = CAUSAL ? min(rows.query(own + kOwn - 1) + 1 + hidden, Lk) : Lk;
  int seen_by[ROWS] = {}, left[ROWS] = {};
  for (int at = 0; at < end; at += BK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage<D, kStride, BK, kThreads, RAGGED>(memory, from_k + at * D, thread_index, Lk - at);
    stage<D, kStride, BK, kThreads, RAGGED>(memory + kTile, from_v + at * D, thread_index, Lk - at);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!kMasked || at + BK <= whole) {
      step_of<BK, false, kStride>(state, keys, values, place, factor, at == 0, seen_by, left);
    } else if constexpr (kMasked) {
#pragma clang loop unroll(disable)
      for (short step = 0; step < min(int(BK), seen - at); step += 16) {
#pragma unroll
        for (short t = 0; t < ROWS; ++t) {
          const int behind = hidden - at - step;
          seen_by[t] =
              CAUSAL ? min(rows.query(own + t * 8 + 7) + 1 + behind, Lk - at - step) : Lk - at - step;
          left[t] = (CAUSAL ? min(rows.query(row + t * 8) + behind, Lk - 1 - at - step)
                            : Lk - 1 - at - step) -
                    place.column;
        }
        step_of<16, true, kStride>(state, keys + step * kStride, values + step * kStride, place,
                                   factor, at + step == 0, seen_by, left);
      }
    }
  }

  float share[ROWS];
#pragma unroll
  for (short t = 0; t < ROWS; ++t) share[t] = 1.0f / row_sum(state.total[t]);
  store_sums<0, kWideV, V>(out + ulong(head) * rows.count * D, state, share, place.column / 2, row,
                           rows);
  if constexpr (kWideV < D)
    store_sums<kWideV, D, width_of<T>(4, D - kWideV)>(out + ulong(head) * rows.count * D, state,
                                                      share, place.column / 2, row, rows);
}
