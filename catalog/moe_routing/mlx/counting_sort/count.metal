// How many pairs of a chunk of CHUNK each expert has.
threadgroup atomic_int counts[E];
const int chunk = threadgroup_position_in_grid.x, t = thread_index_in_threadgroup;
for (int e = t; e < E; e += CHUNK) atomic_store_explicit(&counts[e], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
const int p = chunk * CHUNK + t;
if (p < count) atomic_fetch_add_explicit(&counts[experts[p]], 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int e = t; e < E; e += CHUNK)
  chunk_counts[chunk * E + e] = atomic_load_explicit(&counts[e], memory_order_relaxed);
