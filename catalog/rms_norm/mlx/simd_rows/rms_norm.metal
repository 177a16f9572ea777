// A SIMD-group a row; lanes read neighbours.
const uint lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
float squares = 0.0f;
for (int c = lane; c < cols; c += 32) {
  const float v = x[start + c];
  squares = fma(v, v, squares);
}
const float scale = rsqrt(simd_sum(squares) / cols + eps);
for (int c = lane; c < cols; c += 32) out[start + c] = T(float(x[start + c]) * scale * float(w[c]));
