// A SIMD-group a row, PER times four neighbours a lane in registers: the row is read once and no
// thread waits for another SIMD-group.
constexpr float kLog2e = 1.44269504f;
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
float4 v[PER];
float top = -INFINITY, sum = 0.0f;
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = 4 * lane + i * 128;
  v[i] = load4(x, start + c, cols - c, -INFINITY) * kLog2e;
  top = max(top, max(max(v[i].x, v[i].y), max(v[i].z, v[i].w)));
}
top = simd_max(top);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  v[i] = exp2(v[i] - top);
  sum += (v[i].x + v[i].y) + (v[i].z + v[i].w);
}
const float scale = 1.0f / simd_sum(sum);
#pragma unroll
for (int i = 0; i < PER; ++i) {
  const int c = 4 * lane + i * 128;
  store4(out, start + c, cols - c, v[i] * scale);
}
