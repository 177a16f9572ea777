// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
const int i = thread_position_in_grid.x;
if (i < count) {
  out[i] = T(tokens[i % len * (count / len) + i / len]);
}
