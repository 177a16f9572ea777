// Every SIMD-group adds up the parts for itself.
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.y, part = threadgroup_position_in_grid.x;
float squares = 0.0f;
for (int p = lane; p < PARTS; p += 32) squares += part_sum[row * PARTS + p];
const float scale = rsqrt(simd_sum(squares) / cols + eps);
const int end = min((part + 1) * width, cols);
for (int c = part * width + 4 * thread_index_in_threadgroup; c < end; c += 4 * THREADS) {
  const float4 v = load4(x, row * cols + c, end - c, 0.0f), weight = load4(w, c, end - c, 0.0f);
  store4(out, row * cols + c, end - c, v * scale * weight);
}
