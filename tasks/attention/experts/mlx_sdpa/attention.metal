constexpr short BQ = 32;
constexpr short kPad = 16 / sizeof(T);  // elements, so that rows begin at different banks
constexpr short kStrideQ = D + kPad, kStrideK = BK + kPad, kStrideV = D + kPad;
constexpr short kKeys = BK / 8, kColumns = D / 8;  // matrices
constexpr short kShared = D * kStrideK > BK * kStrideV ? D * kStrideK : BK * kStrideV;
threadgroup T queries[BQ * kStrideQ];
threadgroup T shared[kShared];

const ushort lane = thread_index_in_simdgroup;
const short thread_index = simdgroup_index_in_threadgroup * 32 + lane;
const uint3 group = threadgroup_position_in_grid;
const Place place = place_of(lane);
const short own = 8 * simdgroup_index_in_threadgroup + place.row;  // this lane's query of the group
const int block = group.x * BQ;
const ulong head = ulong(group.z) * H + group.y;
const ulong key_head = ulong(group.z) * Hkv + group.y / (H / Hkv);
const device T* from_q = q + (head * Lq + block) * D;
const device T* from_k = k + key_head * Lk * D;
const device T* from_v = v + key_head * Lk * D;

threadgroup_barrier(mem_flags::mem_threadgroup);  // MLX has it
if (ALIGN_Q)
  stage<T, BQ, D, kStrideQ, false, true>(from_q, queries, thread_index, BQ);
else
  stage<T, BQ, D, kStrideQ, false, false>(from_q, queries, thread_index, Lq - block);

const float factor = scale * M_LOG2E_F;  // the exponentials are those of base 2
constexpr float kLow = -3.4028234663852886e38f;
float largest = kLow, total = 0.0f;
float2 sums[kColumns];
#pragma unroll
for (short c = 0; c < kColumns; ++c) sums[c] = float2(0.0f);

const int first_seen = block + Lk - Lq;  // the last key that the first query sees
const int blocks = CAUSAL ? min((Lk + BK - 1) / BK, (first_seen + BQ + BK - 1) / BK) : (Lk + BK - 1) / BK;
for (int b = 0; b < blocks; ++b) {
  const bool whole = ALIGN_K || (b + 1) * BK <= Lk;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (whole)
    stage<T, BK, D, kStrideK, true, true>(from_k, shared, thread_index, BK);
  else
    stage<T, BK, D, kStrideK, true, false>(from_k, shared, thread_index, Lk - b * BK);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float2 scores[kKeys];
#pragma unroll
  for (short j = 0; j < kKeys; ++j) scores[j] = float2(0.0f);
#pragma unroll
  for (short d = 0; d < kColumns; ++d) {
    simdgroup_barrier(mem_flags::mem_none);
    const float2 query = pair_at(queries + own * kStrideQ + place.column + d * 8);
    float2 keys[kKeys];
#pragma unroll
    for (short j = 0; j < kKeys; ++j)
      keys[j] = pair_at(shared + (d * 8 + place.row) * kStrideK + place.column + j * 8);
    simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
    for (short j = 0; j < kKeys; ++j) scores[j] = multiply_add(query, keys[j], scores[j]);
  }
#pragma unroll
  for (short j = 0; j < kKeys; ++j) scores[j] *= factor;
  if (!whole) {
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      const int key = b * BK + j * 8 + place.column;
      if (key >= Lk) scores[j].x = kLow;
      if (key + 1 >= Lk) scores[j].y = kLow;
    }
  }
  if (CAUSAL && (b + 1) * BK > first_seen + 1) {
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      const int key = b * BK + j * 8 + place.column;
      if (key > first_seen + own) scores[j].x = kLow;
      if (key + 1 > first_seen + own) scores[j].y = kLow;
    }
  }

  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (whole)
    stage<T, BK, D, kStrideV, false, true>(from_v, shared, thread_index, BK);
  else
    stage<T, BK, D, kStrideV, false, false>(from_v, shared, thread_index, Lk - b * BK);

  float now = largest;
#pragma unroll
  for (short j = 0; j < kKeys; ++j) now = max(now, row_max(scores[j]));
#pragma unroll
  for (short j = 0; j < kKeys; ++j)
    scores[j] = float2(fast::exp2(scores[j].x - now), fast::exp2(scores[j].y - now));
  const float shrink = fast::exp2(largest - now);
  largest = now;
  float added = 0.0f;
#pragma unroll
  for (short j = 0; j < kKeys; ++j) added += row_sum(scores[j]);
  total = total * shrink + added;
#pragma unroll
  for (short c = 0; c < kColumns; ++c) sums[c] *= shrink;

  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
#pragma unroll
    for (short j = 0; j < kKeys; ++j) {
      if (D >= 128) simdgroup_barrier(mem_flags::mem_none);
      const float2 values = pair_at(shared + (j * 8 + place.row) * kStrideV + place.column + c * 8);
      if (D >= 128) simdgroup_barrier(mem_flags::mem_none);
      sums[c] = multiply_add(scores[j], values, sums[c]);
    }
  }
  from_k += BK * D;
  from_v += BK * D;
}

if (ALIGN_Q || block + own < Lq) {
  device T* to = out + (head * Lq + block + own) * D + place.column;
#pragma unroll
  for (short c = 0; c < kColumns; ++c) {
    to[c * 8] = T(sums[c].x / total);
    to[c * 8 + 1] = T(sums[c].y / total);
  }
}
