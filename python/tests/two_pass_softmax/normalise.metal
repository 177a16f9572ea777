const uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
auto mine = part + 2 * row * splits;  // below 8 elements MLX makes it constant
float largest = mine[0], sum = 0;
for (int s = 1; s < (ONE ? 1 : splits); ++s) largest = max(largest, mine[2 * s]);
for (int s = 0; s < splits; ++s) sum += mine[2 * s + 1] * metal::exp(mine[2 * s] - largest);
out[row * cols + column] = T(metal::exp(float(x[row * cols + column]) - largest) / sum);
