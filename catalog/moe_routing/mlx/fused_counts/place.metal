// A chunk of CHUNK pairs: where each expert's begin, from the counts of all chunks; then each pair's
// place among those of its expert, in their order.
threadgroup int base[E], all[E], counts[SIMDS][E];
const int lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int chunk = threadgroup_position_in_grid.x, t = thread_index_in_threadgroup;
for (int e = t; e < E; e += 32 * SIMDS) {
  int before = 0, sum = 0;
  for (int c = 0; c < chunks; ++c) {
    const int n = chunk_counts[c * E + e];
    before += c < chunk ? n : 0;
    sum += n;
  }
  base[e] = before;
  all[e] = sum;
  for (int s = 0; s < SIMDS; ++s) counts[s][e] = 0;
}
const int p = chunk * CHUNK + t;
const bool real = t < CHUNK && p < count;
const int mine = real ? experts[p] : -1;
const Rank rank = rank_in_simdgroup(mine, lane);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (real && rank.before == rank.all - 1) counts[simd][mine] = rank.all;
if (simd == 0) {
  int carry = 0;
  for (int e = lane; e < (E + 31) / 32 * 32; e += 32) {
    const int n = e < E ? all[e] : 0;
    const int start = carry + simd_prefix_exclusive_sum(n);
    carry += simd_sum(n);
    if (e < E) {
      base[e] += start;
      if (chunk == 0) offsets[e] = start;
    }
  }
  if (chunk == 0 && lane == 0) offsets[E] = count;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (real) {
  int at = base[mine] + rank.before;
  for (int s = 0; s < simd; ++s) at += counts[s][mine];
  pairs[at] = p;
}
