// A SIMD-group for each query: its lanes share the columns, a sum over the SIMD-group makes a
// score, and rows of k and v are read by neighbouring lanes.
constexpr int kEach = (D + 31) / 32;
const uint lane = thread_index_in_simdgroup, head = threadgroup_position_in_grid.y;
const int i = threadgroup_position_in_grid.x * 4 + simdgroup_index_in_threadgroup;
if (i < Lq) {
  const size_t query = (size_t(head) * Lq + i) * D;
  const size_t key = size_t(head / heads_per_kv) * Lk * D;
  const int seen = CAUSAL ? i + Lk - Lq + 1 : Lk;
  float own[kEach], sum[kEach];
  for (int e = 0; e < kEach; ++e) {
    const uint d = e * 32 + lane;
    own[e] = d < D ? float(q[query + d]) * scale : 0.0f;
    sum[e] = 0.0f;
  }
  float largest = -1e30f, total = 0.0f;
  for (int j = 0; j < seen; ++j) {
    float part = 0.0f;
    for (int e = 0; e < kEach; ++e) {
      const uint d = e * 32 + lane;
      if (d < D) part += own[e] * float(k[key + j * D + d]);
    }
    const float score = simd_sum(part);
    const float most = max(largest, score);
    const float shrink = exp(largest - most), weight = exp(score - most);
    largest = most;
    total = total * shrink + weight;
    for (int e = 0; e < kEach; ++e) {
      const uint d = e * 32 + lane;
      if (d < D) sum[e] = sum[e] * shrink + weight * float(v[key + j * D + d]);
    }
  }
  for (int e = 0; e < kEach; ++e) {
    const uint d = e * 32 + lane;
    if (d < D) out[query + d] = T(sum[e] / total);
  }
}
