// A SIMD-group a row, PER times four neighbours a lane in registers: the row is read once and no
// thread waits for another SIMD-group.
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
float4 v[PER];
float squares = 0.0f;
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = 4 * lane + i * 128;
  v[i] = load4(x, start + c, cols - c, 0.0f);
  squares += dot(v[i], v[i]);
}
const float scale = rsqrt(simd_sum(squares) / cols + eps);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = 4 * lane + i * 128;
  store4(out, start + c, cols - c, v[i] * scale * load4(w, c, cols - c, 0.0f));
}
