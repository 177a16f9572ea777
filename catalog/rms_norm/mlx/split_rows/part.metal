// A part of a long row: its sum of squares.
threadgroup float sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int row = threadgroup_position_in_grid.y, part = threadgroup_position_in_grid.x;
const int end = min((part + 1) * width, cols);
float squares = 0.0f;
for (int c = part * width + 4 * thread_index_in_threadgroup; c < end; c += 4 * THREADS) {
  const float4 v = load4(x, row * cols + c, end - c, 0.0f);
  squares += dot(v, v);
}
squares = group_sum(squares, sums, lane, simd, THREADS / 32);
if (thread_index_in_threadgroup == 0) part_sum[row * PARTS + part] = squares;
