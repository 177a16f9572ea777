// A group takes a part of a sequence's keys for HEADS query heads that share a key head: keys and
// values are read once for all of them. LANES lanes share a key, so that a SIMD-group has
// 32 / LANES keys at a time, KEYS of them in a row; softmax in base 2.
constexpr int kEach = (D + LANES - 1) / LANES, kSlots = 32 / LANES;
constexpr float kLow = -1e30f;  // below any score, and finite
threadgroup float tops[SIMDS][HEADS], totals[SIMDS][HEADS], parts[SIMDS][HEADS][LANES * kEach];
const int lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int slot = lane / LANES, d0 = lane % LANES * kEach;
const int split = threadgroup_position_in_grid.x, b = threadgroup_position_in_grid.z;
const int shared = H / Hkv, blocks = (shared + HEADS - 1) / HEADS;
const int kv = threadgroup_position_in_grid.y / blocks;
const int first = threadgroup_position_in_grid.y % blocks * HEADS;  // of the heads that share kv
const int length = lengths[b];
const int each = (length + SPLIT - 1) / SPLIT;
const int end = min((split + 1) * each, length);

float query[HEADS][kEach], sums[HEADS][kEach], top[HEADS], total[HEADS];
#pragma unroll
for (int h = 0; h < HEADS; ++h) {
  const int row = (b * H + kv * shared + min(first + h, shared - 1)) * D;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const float v = q[row + min(d0 + i, D - 1)];
    query[h][i] = D % LANES == 0 || d0 + i < D ? v * (scale * 1.44269504f) : 0.0f;
    sums[h][i] = 0.0f;
  }
  top[h] = kLow;
  total[h] = 0.0f;
}
for (int j0 = split * each + simd * kSlots + slot; j0 - slot < end; j0 += SIMDS * kSlots * KEYS) {
  float score[HEADS][KEYS];
  int row[KEYS];
#pragma unroll
  for (int n = 0; n < KEYS; ++n) {
    const int at = min(j0 + n * SIMDS * kSlots, end - 1);
    row[n] = ((b * Hkv + kv) * Lmax + at) * D + (D % LANES == 0 ? d0 : min(d0, D - kEach));
  }
#pragma unroll
  for (int n = 0; n < KEYS; ++n) {
    float key[kEach];
    load<kEach>(key, k, row[n]);
    if (D % LANES != 0) shift_tail<kEach>(key, d0, D);
#pragma unroll
    for (int h = 0; h < HEADS; ++h) {
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kEach; ++i) sum = fma(query[h][i], key[i], sum);
      sum = sum_lanes<LANES>(sum);
      score[h][n] = j0 + n * SIMDS * kSlots < end ? sum : -INFINITY;
    }
  }
#pragma unroll
  for (int h = 0; h < HEADS; ++h) {
    float higher = top[h];
#pragma unroll
    for (int n = 0; n < KEYS; ++n) higher = max(higher, score[h][n]);
    const float keep = exp2(top[h] - higher);
    top[h] = higher;
    total[h] *= keep;
#pragma unroll
    for (int n = 0; n < KEYS; ++n) {
      score[h][n] = exp2(score[h][n] - higher);
      total[h] += score[h][n];
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) sums[h][i] *= keep;
  }
#pragma unroll
  for (int n = 0; n < KEYS; ++n) {
    float value[kEach];
    load<kEach>(value, v, row[n]);
    if (D % LANES != 0) shift_tail<kEach>(value, d0, D);
#pragma unroll
    for (int h = 0; h < HEADS; ++h)
#pragma unroll
      for (int i = 0; i < kEach; ++i) sums[h][i] = fma(score[h][n], value[i], sums[h][i]);
  }
}
// The keys' slots of the SIMD-group, then the SIMD-groups.
#pragma unroll
for (int h = 0; h < HEADS; ++h) {
#pragma unroll
  for (ushort by = LANES; by < 32; by *= 2) {
    const float higher = max(top[h], simd_shuffle_xor(top[h], by));
    const float keep = exp2(top[h] - higher);
    top[h] = higher;
    total[h] *= keep;
    total[h] += simd_shuffle_xor(total[h], by);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      sums[h][i] *= keep;
      sums[h][i] += simd_shuffle_xor(sums[h][i], by);
    }
  }
  if (lane == 0) {
    tops[simd][h] = top[h];
    totals[simd][h] = total[h];
  }
  if (slot == 0)
#pragma unroll
    for (int i = 0; i < kEach; ++i) parts[simd][h][d0 + i] = sums[h][i];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int h = 0; h < min(HEADS, shared - first); ++h) {
  float best = kLow, all = 0.0f;
#pragma unroll
  for (int s = 0; s < SIMDS; ++s) best = max(best, tops[s][h]);
#pragma unroll
  for (int s = 0; s < SIMDS; ++s) all = fma(totals[s][h], exp2(tops[s][h] - best), all);
  const int head = b * H + kv * shared + first + h;
  for (int d = thread_index_in_threadgroup; d < D; d += 32 * SIMDS) {
    float sum = 0.0f;
#pragma unroll
    for (int s = 0; s < SIMDS; ++s) sum = fma(parts[s][h][d], exp2(tops[s][h] - best), sum);
#if WHOLE
    out[head * D + d] = T(sum / all);
  }
#else
    part_out[(head * SPLIT + split) * D + d] = sum;
  }
  if (thread_index_in_threadgroup == 0) {
    part_top[head * SPLIT + split] = best;
    part_total[head * SPLIT + split] = all;
  }
#endif
}
