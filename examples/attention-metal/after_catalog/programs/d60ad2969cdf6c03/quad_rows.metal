// Four lanes for each query share its columns: a quarter of the registers, a score is a sum over
// the four. Tiles of keys and values go through threadgroup memory.
constexpr int kThreads = 256, kQueries = kThreads / 4, kEach = (D + 3) / 4;
threadgroup T keys[TILE * D];
threadgroup T values[TILE * D];
const uint thread_index = thread_position_in_threadgroup.x, head = threadgroup_position_in_grid.y;
const int i = threadgroup_position_in_grid.x * kQueries + thread_index / 4;
const int first = thread_index % 4 * kEach;  // column of this lane
const size_t query = (size_t(head) * Lq + i) * D;
const size_t key = size_t(head / heads_per_kv) * Lk * D;
// Threads beyond the last query see nothing, but come to the barriers.
const int seen = i < Lq ? (CAUSAL ? i + Lk - Lq + 1 : Lk) : 0;
float own[kEach], sum[kEach];
for (int e = 0; e < kEach; ++e) {
  own[e] = i < Lq && first + e < D ? float(q[query + first + e]) * scale : 0.0f;
  sum[e] = 0.0f;
}
float largest = -1e30f, total = 0.0f;
for (int at = 0; at < Lk; at += TILE) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int n = thread_index; n < min(TILE, Lk - at) * D; n += kThreads) {
    keys[n] = k[key + at * D + n];
    values[n] = v[key + at * D + n];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  // All lanes go through the whole tile: a sum over four lanes needs the four.
  for (int j = 0; j < min(TILE, Lk - at); ++j) {
    float part = 0.0f;
    for (int e = 0; e < kEach; ++e)
      if (D % 4 == 0 || first + e < D) part += own[e] * float(keys[j * D + first + e]);
    const float all = quad_sum(part);
    const float score = at + j < seen ? all : -1e30f;
    const float most = max(largest, score);
    const float shrink = exp(largest - most), weight = at + j < seen ? exp(score - most) : 0.0f;
    largest = most;
    total = total * shrink + weight;
    for (int e = 0; e < kEach; ++e)
      if (D % 4 == 0 || first + e < D)
        sum[e] = sum[e] * shrink + weight * float(values[j * D + first + e]);
  }
}
if (i < Lq)
  for (int e = 0; e < kEach; ++e)
    if (first + e < D) out[query + first + e] = T(sum[e] / total);
