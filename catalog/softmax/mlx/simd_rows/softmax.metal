// A SIMD-group a row; lanes read neighbours.
const uint lane = thread_index_in_simdgroup;
const int row = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (row >= rows) return;  // the whole SIMD-group; there is no barrier
const int start = row * cols;
float top = -INFINITY, sum = 0.0f;
for (int c = lane; c < cols; c += 32) top = max(top, float(x[start + c]));
top = simd_max(top);
for (int c = lane; c < cols; c += 32) sum += exp(float(x[start + c]) - top);
const float scale = 1.0f / simd_sum(sum);
for (int c = lane; c < cols; c += 32) out[start + c] = T(exp(float(x[start + c]) - top) * scale);
