// Few queries, MLX's way: 32 SIMD-groups share the keys of one query of one head, lanes the columns.
constexpr short kEach = D / 32;
threadgroup float largest_of[32], total_of[32], part[32 * 32];
const uint lane = thread_index_in_simdgroup, own = simdgroup_index_in_threadgroup;
const ulong head = threadgroup_position_in_grid.x, query = threadgroup_position_in_grid.y;
const int seen = CAUSAL ? int(query) + Lk - Lq + 1 : Lk;
const device T* from_q = q + (head * Lq + query) * D + lane * kEach;
const device T* from_k = k + head / heads_per_kv * Lk * D + lane * kEach;
const device T* from_v = v + head / heads_per_kv * Lk * D + lane * kEach;
float row[kEach], sum[kEach];
for (short e = 0; e < kEach; ++e) {
  row[e] = scale * M_LOG2E_F * float(from_q[e]);
  sum[e] = 0.0f;
}
float largest = -3.4028234663852886e38f, total = 0.0f;
for (int j = own; j < seen; j += 32) {
  float score = 0.0f;
  for (short e = 0; e < kEach; ++e) score += row[e] * float(from_k[j * D + e]);
  score = simd_sum(score);
  const float most = max(largest, score);
  const float shrink = fast::exp2(largest - most), weight = fast::exp2(score - most);
  largest = most;
  total = total * shrink + weight;
  for (short e = 0; e < kEach; ++e) sum[e] = sum[e] * shrink + weight * float(from_v[j * D + e]);
}
if (lane == 0) {
  largest_of[own] = largest;
  total_of[own] = total;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
const float most = simd_max(largest_of[lane]);
const float share = fast::exp2(largest_of[lane] - most);
const float all = simd_sum(total_of[lane] * share);
for (short e = 0; e < kEach; ++e) {
  part[lane * 32 + own] = sum[e];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float column = simd_sum(part[own * 32 + lane] * share);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) out[(head * Lq + query) * D + own * kEach + e] = T(column / all);
}
