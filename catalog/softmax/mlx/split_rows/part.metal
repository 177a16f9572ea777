// A part of a long row: its maximum and its sum against that.
constexpr float kLog2e = 1.44269504f;
threadgroup float tops[THREADS / 32], sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int row = threadgroup_position_in_grid.y, part = threadgroup_position_in_grid.x;
const int end = min((part + 1) * width, cols);
Running mine{-INFINITY, 0.0f};
for (int c = part * width + 4 * thread_index_in_threadgroup; c < end; c += 4 * THREADS)
  add(mine, load4(x, row * cols + c, end - c, -INFINITY) * kLog2e);
const float top = group_max(mine.max, tops, lane, simd, THREADS / 32);
const float sum = group_sum(mine.sum * exp2(mine.max - top), sums, lane, simd, THREADS / 32);
if (thread_index_in_threadgroup == 0) {
  part_max[row * PARTS + part] = top;
  part_sum[row * PARTS + part] = sum;
}
