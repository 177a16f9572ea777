// A SIMD-group a row, four neighbours a lane at a time.
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
float squares = 0.0f;
for (int c = 4 * lane; c < cols; c += 128) {
  const float4 v = load4(x, start + c, cols - c, 0.0f);
  squares += dot(v, v);
}
const float scale = rsqrt(simd_sum(squares) / cols + eps);
for (int c = 4 * lane; c < cols; c += 128) {
  const float4 v = load4(x, start + c, cols - c, 0.0f), weight = load4(w, c, cols - c, 0.0f);
  store4(out, start + c, cols - c, v * scale * weight);
}
