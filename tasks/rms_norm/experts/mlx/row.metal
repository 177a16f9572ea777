// A group a row of as many threads as it needs, PER times four neighbours a thread in registers: the row is read once.
threadgroup float sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int start = threadgroup_position_in_grid.x * cols, first = 4 * thread_index_in_threadgroup;
float4 v[PER];
float squares = 0.0f;
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = first + i * 4 * THREADS;
  v[i] = load4(x, start + c, cols - c, 0.0f);
  squares += dot(v[i], v[i]);
}
const float scale = rsqrt(group_sum(squares, sums, lane, simd, THREADS / 32) / cols + eps);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = first + i * 4 * THREADS;
  store4(out, start + c, cols - c, v[i] * scale * load4(w, c, cols - c, 0.0f));
}
