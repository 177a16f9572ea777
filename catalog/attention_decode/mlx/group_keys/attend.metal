// A group a query head: its SIMD-groups take keys in turn, each with a softmax of its own in base 2;
// the first one puts them together.
constexpr int kEach = (D + 31) / 32;
constexpr float kLow = -1e30f;  // below any score, and finite
threadgroup float tops[SIMDS], totals[SIMDS], parts[SIMDS][32 * kEach];
const int lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int head = threadgroup_position_in_grid.x;
const int b = head / H, kv = head % H / (H / Hkv);
const int length = lengths[b];
float query[kEach], sums[kEach];
#pragma unroll
for (int i = 0; i < kEach; ++i) {
  const int d = lane + 32 * i;
  query[i] = d < D ? float(q[head * D + d]) * (scale * 1.44269504f) : 0.0f;
  sums[i] = 0.0f;
}
float top = kLow, total = 0.0f;
for (int j = simd; j < length; j += SIMDS) {
  const int row = ((b * Hkv + kv) * Lmax + j) * D + lane;
  float score = 0.0f;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (D % 32 == 0 || lane + 32 * i < D) score = fma(query[i], float(k[row + 32 * i]), score);
  score = simd_sum(score);
  const float higher = max(top, score), keep = exp2(top - higher), p = exp2(score - higher);
  total = fma(total, keep, p);
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (D % 32 == 0 || lane + 32 * i < D) sums[i] = fma(sums[i], keep, p * float(v[row + 32 * i]));
  top = higher;
}
if (lane == 0) {
  tops[simd] = top;
  totals[simd] = total;
}
for (int i = 0; i < kEach; ++i) parts[simd][lane + 32 * i] = sums[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
const float best = simd_max(lane < SIMDS ? tops[lane] : kLow);
const float weight = lane < SIMDS ? exp2(tops[lane] - best) : 0.0f;
const float all = 1.0f / simd_sum(lane < SIMDS ? totals[lane] * weight : 0.0f);
for (int d = thread_index_in_threadgroup; d < D; d += 32 * SIMDS) {
  float sum = 0.0f;
  for (int s = 0; s < SIMDS; ++s) sum = fma(parts[s][d], exp2(tops[s] - best), sum);
  out[head * D + d] = T(sum * all);
}
