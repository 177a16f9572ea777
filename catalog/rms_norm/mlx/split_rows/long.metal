// A group a row too long for registers: it is read twice.
threadgroup float sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int start = threadgroup_position_in_grid.x * cols, first = 4 * thread_index_in_threadgroup;
float squares = 0.0f;
for (int c = first; c < cols; c += 4 * THREADS) {
  const float4 v = load4(x, start + c, cols - c, 0.0f);
  squares += dot(v, v);
}
const float scale = rsqrt(group_sum(squares, sums, lane, simd, THREADS / 32) / cols + eps);
for (int c = first; c < cols; c += 4 * THREADS) {
  const float4 v = load4(x, start + c, cols - c, 0.0f), weight = load4(w, c, cols - c, 0.0f);
  store4(out, start + c, cols - c, v * scale * weight);
}
