// Few queries and many keys: groups share the keys, key b of each BLOCKS is a group's. A SIMD-group for
// each query and each head that shares the keys.
constexpr short kEach = D / 32;
const uint lane = thread_index_in_simdgroup;
const uint shares = threads_per_threadgroup.y;
const ulong head = ulong(threadgroup_position_in_grid.y) * shares + thread_position_in_threadgroup.y;
const ulong query = thread_position_in_threadgroup.z;
const uint b = threadgroup_position_in_grid.x;
const int seen = CAUSAL ? int(query) + Lk - Lq + 1 : Lk;
const device T* from_q = q + (head * Lq + query) * D + lane * kEach;
const device T* from_k = k + ulong(threadgroup_position_in_grid.y) * Lk * D + lane * kEach;
const device T* from_v = v + ulong(threadgroup_position_in_grid.y) * Lk * D + lane * kEach;
float row[kEach], sum[kEach];
for (short e = 0; e < kEach; ++e) {
  row[e] = scale * M_LOG2E_F * float(from_q[e]);
  sum[e] = 0.0f;
}
float largest = -3.4028234663852886e38f, total = 0.0f;
for (int j = b; j < seen; j += BLOCKS) {
  float score = 0.0f;
  for (short e = 0; e < kEach; ++e) score += row[e] * float(from_k[j * D + e]);
  score = simd_sum(score);
  const float most = max(largest, score);
  const float shrink = fast::exp2(largest - most), weight = fast::exp2(score - most);
  largest = most;
  total = total * shrink + weight;
  for (short e = 0; e < kEach; ++e) sum[e] = sum[e] * shrink + weight * float(from_v[j * D + e]);
}
const ulong place = (head * Lq + query) * BLOCKS + b;
if (lane == 0) {
  state[2 * place] = largest;
  state[2 * place + 1] = total;
}
for (short e = 0; e < kEach; ++e) sums[place * D + lane * kEach + e] = T(sum[e]);
