// What mlx-lm's MambaBlock does for one token: an operation of MLX a launch.
// MLX keeps a list of these and puts it together; here each launch writes its part.
const int i = thread_position_in_grid.x;
if (i < count) {
  tokens[t * count + i] = y[i];
}
