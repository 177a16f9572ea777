constexpr short kThreads = 128, BQ = 32;
constexpr short kPad = 16 / sizeof(T), kStride = D + kPad;  // 16 bytes more a row: other banks
constexpr short kColumns = D / 8, kKeys = BK / 8;           // matrices
threadgroup T queries[BQ * kStride];
threadgroup T keys[BK * kStride];
threadgroup T values[BK * kStride];
constexpr short kStrideS = BK + 4;
threadgroup float scores[4 * 8 * kStrideS];
threadgroup float diagonal[4 * 64];

const ushort lane = thread_index_in_simdgroup;
const ushort thread_index = simdgroup_index_in_threadgroup * 32 + lane;
const uint head = threadgroup_position_in_grid.y;
const int block = threadgroup_position_in_grid.x * BQ;
const device T* from_k = k + ulong(head / heads_per_kv) * Lk * D;
const device T* from_v = v + ulong(head / heads_per_kv) * Lk * D;
// Four lanes care for a row of scores.
const ushort row = lane / 4, quarter = lane % 4;
const int query = block + simdgroup_index_in_threadgroup * 8 + row;
threadgroup float* own_scores = scores + simdgroup_index_in_threadgroup * 8 * kStrideS;
threadgroup float* own_diagonal = diagonal + simdgroup_index_in_threadgroup * 64;
const threadgroup T* own_queries = queries + simdgroup_index_in_threadgroup * 8 * kStride;
stage<D, kStride, BQ, kThreads>(queries, q + (ulong(head) * Lq + block) * D, thread_index,
                                Lq - block);

float largest = kHidden, total = 0.0f;
Sums sums[kColumns];
#pragma unroll
for (short c = 0; c < kColumns; ++c) sums[c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

const int hidden = Lk - Lq;
const int last = CAUSAL ? min(query + hidden, Lk - 1) : Lk - 1;  // that this row sees
for (int at = 0; at < Lk; at += BK) {
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
#pragma unroll
  for (short j = 0; j < kKeys; ++j) simdgroup_store(tile[j], own_scores + j * 8, kStrideS);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  float most = kHidden;
  for (ushort j = quarter; j < BK; j += 4)
    if (at + j <= last) most = max(most, own_scores[row * kStrideS + j] * scale);
  most = max(largest, quad_max(most));
  const float shrink = exp(largest - most);
  largest = most;
  float added = 0.0f;
  for (ushort j = quarter; j < BK; j += 4) {
    const float weight =
        at + j <= last ? exp(own_scores[row * kStrideS + j] * scale - largest) : 0.0f;
    own_scores[row * kStrideS + j] = weight;
    added += weight;
  }
  total = total * shrink + quad_sum(added);
  // A diagonal matrix from the left scales rows.
  own_diagonal[row * 8 + quarter] = row == quarter ? shrink : 0.0f;
  own_diagonal[row * 8 + quarter + 4] = row == quarter + 4 ? shrink : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  Sums factors;
  simdgroup_load(factors, own_diagonal, 8);
#pragma unroll
  for (short c = 0; c < kColumns; ++c) simdgroup_multiply(sums[c], factors, sums[c]);

#pragma unroll
  for (short j = 0; j < kKeys; ++j) {
    Sums weights;
    simdgroup_load(weights, own_scores + j * 8, kStrideS);
#pragma unroll
    for (short c = 0; c < kColumns; ++c) {
      Operand<T> value;
      simdgroup_load(value, values + j * 8 * kStride + c * 8, kStride);
      simdgroup_multiply_accumulate(sums[c], weights, value, sums[c]);
    }
  }
}

device T* to = out + (ulong(head) * Lq + query) * D;
#pragma unroll
for (short c = 0; c < kColumns; ++c) {
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(sums[c], own_diagonal, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (query < Lq) {
    to[c * 8 + quarter] = T(own_diagonal[row * 8 + quarter] / total);
    to[c * 8 + quarter + 4] = T(own_diagonal[row * 8 + quarter + 4] / total);
  }
}
