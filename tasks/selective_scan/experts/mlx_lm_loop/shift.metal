// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
const int i = thread_position_in_grid.x;
if (i < count) {
  dt_raw[i] = float(delta[i * len + t]) + delta_bias[i % dim];
}
