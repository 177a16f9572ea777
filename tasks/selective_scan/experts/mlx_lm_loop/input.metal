// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
const int i = thread_position_in_grid.x;
if (i < count) {
  added[i] = dx[i / N] * float(B[(i / N / dim * N + i % N) * len + t]);
}
