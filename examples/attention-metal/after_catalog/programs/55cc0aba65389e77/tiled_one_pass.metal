// A thread for each query, one pass: a tile of keys and values in threadgroup memory, sums relative
// to the largest score so far.
constexpr int kThreads = 64;
threadgroup T keys[TILE * D];
threadgroup T values[TILE * D];
const uint thread_index = thread_position_in_threadgroup.x, head = threadgroup_position_in_grid.y;
const int i = threadgroup_position_in_grid.x * kThreads + thread_index;
const size_t query = (size_t(head) * Lq + i) * D;
const size_t key = size_t(head / heads_per_kv) * Lk * D;
// Threads beyond the last query see nothing, but come to the barriers.
const int seen = i < Lq ? (CAUSAL ? i + Lk - Lq + 1 : Lk) : 0;
float own[D], sum[D];
for (int d = 0; d < D; ++d) {
  own[d] = i < Lq ? float(q[query + d]) * scale : 0.0f;
  sum[d] = 0.0f;
}
float largest = -1e30f, total = 0.0f;
for (int at = 0; at < Lk; at += TILE) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int n = thread_index; n < min(TILE, Lk - at) * D; n += kThreads) {
    keys[n] = k[key + at * D + n];
    values[n] = v[key + at * D + n];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int j = 0; j < min(TILE, seen - at); ++j) {
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += own[d] * float(keys[j * D + d]);
    const float most = max(largest, score);
    const float shrink = exp(largest - most), weight = exp(score - most);
    largest = most;
    total = total * shrink + weight;
    for (int d = 0; d < D; ++d) sum[d] = sum[d] * shrink + weight * float(values[j * D + d]);
  }
}
if (i < Lq)
  for (int d = 0; d < D; ++d) out[query + d] = T(sum[d] / total);
