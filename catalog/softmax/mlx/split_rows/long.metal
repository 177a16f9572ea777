// A group a row too long for registers: maximum and sum in one pass, the quotients in a second.
constexpr float kLog2e = 1.44269504f;
threadgroup float tops[THREADS / 32], sums[THREADS / 32];
const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int start = threadgroup_position_in_grid.x * cols, first = 4 * thread_index_in_threadgroup;
Running mine{-INFINITY, 0.0f};
for (int c = first; c < cols; c += 4 * THREADS)
  add(mine, load4(x, start + c, cols - c, -INFINITY) * kLog2e);
const float top = group_max(mine.max, tops, lane, simd, THREADS / 32);
const float scale =
    1.0f / group_sum(mine.sum * exp2(mine.max - top), sums, lane, simd, THREADS / 32);
for (int c = first; c < cols; c += 4 * THREADS) {
  const float4 v = load4(x, start + c, cols - c, 0.0f);
  store4(out, start + c, cols - c, exp2(v * kLog2e - top) * scale);
}
