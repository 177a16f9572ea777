// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
// A SIMD-group a channel, as its matrix-vector product.
const int i = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
float sum = 0.0f;
for (int n = lane; n < N; n += 32)
  sum = fma(state[i * N + n], float(C[(i / dim * N + n) * len + t]), sum);
sum = simd_sum(sum);
if (lane == 0) y[i] = sum;
