// A SIMD-group a query head; its lanes share the head's elements, a score is a sum over them.
constexpr int kEach = (D + 31) / 32;
const int lane = thread_index_in_simdgroup, head = threadgroup_position_in_grid.x;
const int b = head / H, kv = head % H / (H / Hkv);
const int length = lengths[b];
float query[kEach], sums[kEach];
for (int i = 0; i < kEach; ++i) {
  const int d = lane + 32 * i;
  query[i] = d < D ? float(q[head * D + d]) * scale : 0.0f;
  sums[i] = 0.0f;
}
float top = -INFINITY, total = 0.0f;
for (int j = 0; j < length; ++j) {
  const int row = ((b * Hkv + kv) * Lmax + j) * D + lane;
  float score = 0.0f;
  for (int i = 0; i < kEach; ++i)
    if (lane + 32 * i < D) score = fma(query[i], float(k[row + 32 * i]), score);
  score = simd_sum(score);
  const float higher = max(top, score), keep = exp(top - higher), p = exp(score - higher);
  total = fma(total, keep, p);
  for (int i = 0; i < kEach; ++i)
    if (lane + 32 * i < D) sums[i] = fma(sums[i], keep, p * float(v[row + 32 * i]));
  top = higher;
}
for (int i = 0; i < kEach; ++i)
  if (lane + 32 * i < D) out[head * D + lane + 32 * i] = T(sums[i] / total);
