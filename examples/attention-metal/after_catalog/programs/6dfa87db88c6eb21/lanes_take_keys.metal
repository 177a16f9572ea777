// A SIMD-group for each query, 32 keys at a time: each lane makes the score of one key, one
// reduction serves 32 of them; then lanes take columns and weights are handed round.
constexpr int kEach = (D + 31) / 32;
threadgroup float own[4 * D];
const uint lane = thread_index_in_simdgroup, head = threadgroup_position_in_grid.y;
const int i = threadgroup_position_in_grid.x * 4 + simdgroup_index_in_threadgroup;
threadgroup float* row = own + simdgroup_index_in_threadgroup * D;
const size_t query = (size_t(head) * Lq + i) * D;
const size_t key = size_t(head / heads_per_kv) * Lk * D;
if (i < Lq)
  for (int d = lane; d < D; d += 32) row[d] = float(q[query + d]) * scale;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (i < Lq) {
  const int seen = CAUSAL ? i + Lk - Lq + 1 : Lk;
  float sum[kEach];
  for (int e = 0; e < kEach; ++e) sum[e] = 0.0f;
  float largest = -1e30f, total = 0.0f;
  for (int at = 0; at < seen; at += 32) {
    const int j = at + int(lane);
    float score = -1e30f;
    if (j < seen) {
      score = 0.0f;
      for (int d = 0; d < D; ++d) score += row[d] * float(k[key + j * D + d]);
    }
    const float most = max(largest, simd_max(score));
    const float shrink = exp(largest - most), weight = j < seen ? exp(score - most) : 0.0f;
    largest = most;
    total = total * shrink + simd_sum(weight);
    for (int e = 0; e < kEach; ++e) sum[e] *= shrink;
    for (int n = 0; n < min(32, seen - at); ++n) {
      const float share = simd_broadcast(weight, ushort(n));
      for (int e = 0; e < kEach; ++e) {
        const int d = e * 32 + int(lane);
        if (d < D) sum[e] += share * float(v[key + (at + n) * D + d]);
      }
    }
  }
  for (int e = 0; e < kEach; ++e) {
    const int d = e * 32 + int(lane);
    if (d < D) out[query + d] = T(sum[e] / total);
  }
}
