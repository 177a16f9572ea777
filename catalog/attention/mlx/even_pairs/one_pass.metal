// A thread for each query, one pass over the keys: sums are kept relative to the largest score so
// far and shrink when a larger one comes.
const uint i = thread_position_in_grid.x, head = thread_position_in_grid.y;
if (i < uint(Lq)) {
  const size_t query = (size_t(head) * Lq + i) * D;
  const size_t key = size_t(head / heads_per_kv) * Lk * D;
  const int seen = CAUSAL ? int(i) + Lk - Lq + 1 : Lk;
  float own[D], sum[D];
  for (int d = 0; d < D; ++d) {
    own[d] = float(q[query + d]) * scale;
    sum[d] = 0.0f;
  }
  float largest = -1e30f, total = 0.0f;
  for (int j = 0; j < seen; ++j) {
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += own[d] * float(k[key + j * D + d]);
    const float most = max(largest, score);
    const float shrink = exp(largest - most), weight = exp(score - most);
    largest = most;
    total = total * shrink + weight;
    for (int d = 0; d < D; ++d) sum[d] = sum[d] * shrink + weight * float(v[key + j * D + d]);
  }
  for (int d = 0; d < D; ++d) out[query + d] = T(sum[d] / total);
}
