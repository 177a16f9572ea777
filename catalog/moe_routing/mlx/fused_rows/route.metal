// TOKENS tokens a group, one after the other in a SIMD-group; their pairs are a chunk of the sort, and
// counting them by expert is done here.
threadgroup atomic_int counts[E];
const int lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int chunk = threadgroup_position_in_grid.x, t = thread_index_in_threadgroup;
for (int e = t; e < E; e += 128) atomic_store_explicit(&counts[e], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int n = chunk * TOKENS + simd; n < min((chunk + 1) * TOKENS, N); n += 4) {
  TopK<E, K> top;
  top.find(logits, n * E, lane);
#pragma unroll
  for (int c = 0; c < K; ++c)
    if (lane == c % 32) {
      weights[n * K + c] = top.weight[c];
      experts[n * K + c] = top.expert[c];
      atomic_fetch_add_explicit(&counts[top.expert[c]], 1, memory_order_relaxed);
    }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int e = t; e < E; e += 128)
  chunk_counts[chunk * E + e] = atomic_load_explicit(&counts[e], memory_order_relaxed);
