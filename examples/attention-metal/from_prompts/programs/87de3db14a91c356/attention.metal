// Attention as the definition says it, a thread for each query, in two passes over the keys: the
// largest score, then the weights and their sums, for which the scores are computed anew.
uint i = thread_position_in_grid.x;
uint head = thread_position_in_grid.y;
if (i < uint(Lq)) {
  size_t query = (size_t(head) * Lq + i) * D;
  size_t key = size_t(head / heads_per_kv) * Lk * D;
  int seen = causal ? int(i) + Lk - Lq + 1 : Lk;

  float largest = -INFINITY;
  for (int j = 0; j < seen; ++j) {
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += float(q[query + d]) * float(k[key + j * D + d]);
    largest = max(largest, score * scale);
  }

  float total = 0.0f;
  float sum[D];
  for (int d = 0; d < D; ++d) sum[d] = 0.0f;
  for (int j = 0; j < seen; ++j) {
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += float(q[query + d]) * float(k[key + j * D + d]);
    float weight = exp(score * scale - largest);
    total += weight;
    for (int d = 0; d < D; ++d) sum[d] += weight * float(v[key + j * D + d]);
  }
  for (int d = 0; d < D; ++d) out[query + d] = T(sum[d] / total);
}
