constexpr short kThreads = 128, BQ = 32;
constexpr short kPad = 16 / sizeof(T), kStride = D + kPad;  // 16 bytes more a row: other banks
constexpr short kColumns = D / 8, kKeys = BK / 8;           // matrices
threadgroup T queries[BQ * kStride];
threadgroup T keys[BK * kStride];
threadgroup T values[BK * kStride];

const ushort lane = thread_index_in_simdgroup;
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + lane;
const uint head = threadgroup_position_in_grid.y;
const int block = threadgroup_position_in_grid.x * BQ;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;
const Place place = place_of(lane);
const int query = block + simdgroup_index_in_threadgroup * 8 + place.row;  // this lane's row
const threadgroup T* own_queries = queries + simdgroup_index_in_threadgroup * 8 * kStride;
stage<D, kStride, BQ, kThreads>(queries, q + (ulong(head) * Lq + block) * D, thread_index,
                                Lq - block);

float largest = kHidden, total = 0.0f;
Sums sums[kColumns];
#pragma unroll
for (short c = 0; c < kColumns; ++c) sums[c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

const int hidden = Lk - Lq;
const int last = CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1;  // that this row sees
// Tiles that no query of the group sees are left out.
const int end = CAUSAL ? min(Lk, block + BQ + hidden) : Lk;
for (int at = 0; at < end; at += BK) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage<D, kStride, BK, kThreads>(keys, from_k + at * D, thread_index, Lk - at);
  stage<D, kStride, BK, kThreads>(values, from_v + at * D, thread_index, Lk - at);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  Sums tile[kKeys];
#pragma unroll
  for (short j = 0; j < kKeys; ++j) tile[j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
    Operand<T> own;
    simdgroup_load(own, own_queries + c * 8, kStride);
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      Operand<T> key;
      simdgroup_load(key, keys + j * 8 * kStride + c * 8, kStride, ulong2(0, 0), true);
      simdgroup_multiply_accumulate(tile[j], own, key, tile[j]);
    }
  }
  float most = kHidden;
  const bool masked = at + BK > Lk || (CAUSAL && at + BK > block + hidden + 1);
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    tile[j].thread_elements()[0] *= scale;
    tile[j].thread_elements()[1] *= scale;
    if (masked) {
      if (at + j * 8 + place.column > last) tile[j].thread_elements()[0] = kHidden;
      if (at + j * 8 + place.column + 1 > last) tile[j].thread_elements()[1] = kHidden;
    }
    most = max(most, row_max(max(tile[j].thread_elements()[0], tile[j].thread_elements()[1])));
  }
  most = max(largest, most);
  const float shrink = exp(largest - most);
  largest = most;
  total *= shrink;
#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    tile[j].thread_elements()[0] = exp(tile[j].thread_elements()[0] - largest);
    tile[j].thread_elements()[1] = exp(tile[j].thread_elements()[1] - largest);
    total += row_sum(tile[j].thread_elements()[0] + tile[j].thread_elements()[1]);
  }
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
    sums[c].thread_elements()[0] *= shrink;
    sums[c].thread_elements()[1] *= shrink;
  }

#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
#pragma unroll
    for (short c = 0; c < kColumns; ++c) {
      Operand<T> value;
      simdgroup_load(value, values + j * 8 * kStride + c * 8, kStride);
      simdgroup_multiply_accumulate(sums[c], tile[j], value, sums[c]);
    }
  }
}

if (query < Lq) {
  device T* to = out + (ulong(head) * Lq + query) * D + place.column;
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
    to[c * 8] = T(sums[c].thread_elements()[0] / total);
    to[c * 8 + 1] = T(sums[c].thread_elements()[1] / total);
  }
}
