// A group a row, PER times four neighbours a thread in registers: the row is read once.
constexpr float kLog2e = 1.44269504f;
threadgroup float tops[THREADS / 32], sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int start = threadgroup_position_in_grid.x * cols, first = 4 * thread_index_in_threadgroup;
float4 v[PER];
float top = -INFINITY, sum = 0.0f;
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = first + i * 4 * THREADS;
  v[i] = load4(x, start + c, cols - c, -INFINITY) * kLog2e;
  top = max(top, max(max(v[i].x, v[i].y), max(v[i].z, v[i].w)));
}
top = group_max(top, tops, lane, simd, THREADS / 32);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  v[i] = exp2(v[i] - top);
  sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
}
const float scale = 1.0f / group_sum(sum, sums, lane, simd, THREADS / 32);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = first + i * 4 * THREADS;
  store4(out, start + c, cols - c, v[i] * scale);
}
