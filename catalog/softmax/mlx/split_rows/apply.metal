// Every SIMD-group puts the parts' maxima and sums together for itself.
constexpr float kLog2e = 1.44269504f;
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.y, part = threadgroup_position_in_grid.x;
float top = -INFINITY, sum = 0.0f;
for (int p = lane; p < PARTS; p += 32) top = max(top, part_max[row * PARTS + p]);
top = simd_max(top);
for (int p = lane; p < PARTS; p += 32)
  sum += part_sum[row * PARTS + p] * exp2(part_max[row * PARTS + p] - top);
const float scale = 1.0f / simd_sum(sum);
const int end = min((part + 1) * width, cols);
for (int c = part * width + 4 * thread_index_in_threadgroup; c < end; c += 4 * THREADS) {
  const float4 v = load4(x, row * cols + c, end - c, 0.0f);
  store4(out, row * cols + c, end - c, exp2(v * kLog2e - top) * scale);
}
