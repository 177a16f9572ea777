// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
const int i = thread_position_in_grid.x;
if (i < count) {
  const float x = dt_raw[i];
  dt[i] = SOFTPLUS ? max(x, 0.0f) + log(1.0f + exp(-abs(x))) : x;
}
