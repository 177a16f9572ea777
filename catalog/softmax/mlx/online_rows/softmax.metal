// A SIMD-group a row, four neighbours a lane. Maximum and sum in one pass, in base 2; the second pass
// writes.
constexpr float kLog2e = 1.44269504f;
const int lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
Running mine{-INFINITY, 0.0f};
for (int c = 4 * lane; c < cols; c += 128) add(mine, load4(x, start + c, cols - c, -INFINITY) * kLog2e);
const float top = simd_max(mine.max);
const float scale = 1.0f / simd_sum(mine.sum * exp2(mine.max - top));
for (int c = 4 * lane; c < cols; c += 128) {
  const float4 v = load4(x, start + c, cols - c, 0.0f);
  store4(out, start + c, cols - c, exp2(v * kLog2e - top) * scale);
}
