// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
const int i = thread_position_in_grid.x;
if (i < count) {
  const float g = z[i];
  out[i] = T(tokens[i % len * (count / len) + i / len] * (g / (1.0f + exp(-g))));
}
