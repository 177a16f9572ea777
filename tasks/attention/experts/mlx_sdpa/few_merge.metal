// Puts together what the blocks of keys have left: 32 SIMD-groups for each query of each head, lanes the
// columns.
constexpr short kEach = D / 32;
threadgroup float part[32 * 32];
const uint lane = thread_index_in_simdgroup, own = simdgroup_index_in_threadgroup;
const ulong place = threadgroup_position_in_grid.x;  // query of all heads
float most = -3.4028234663852886e38f;
for (uint b = lane; b < BLOCKS; b += 32) most = max(most, state[2 * (place * BLOCKS + b)]);
most = simd_max(most);
float all = 0.0f;
for (uint b = lane; b < BLOCKS; b += 32)
  all += state[2 * (place * BLOCKS + b) + 1] * fast::exp2(state[2 * (place * BLOCKS + b)] - most);
all = simd_sum(all);
float sum[kEach];
for (short e = 0; e < kEach; ++e) sum[e] = 0.0f;
for (uint b = own; b < BLOCKS; b += 32) {
  const float share = fast::exp2(state[2 * (place * BLOCKS + b)] - most);
  for (short e = 0; e < kEach; ++e)
    sum[e] += share * float(sums[(place * BLOCKS + b) * D + lane * kEach + e]);
}
for (short e = 0; e < kEach; ++e) {
  part[lane * 32 + own] = sum[e];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float column = simd_sum(part[own * 32 + lane]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) out[place * D + own * kEach + e] = T(column / all);
}
