// A group for each row, a thread for each column: what the groups of keys have left, put together.
const uint column = thread_position_in_threadgroup.x;
const ulong row = threadgroup_position_in_grid.x;
float most = -1e30f;
for (int b = 0; b < BLOCKS; ++b) most = max(most, state[2 * (row * BLOCKS + b)]);
float sum = 0.0f, total = 0.0f;
for (int b = 0; b < BLOCKS; ++b) {
  const float share = exp2(state[2 * (row * BLOCKS + b)] - most);
  total += share * state[2 * (row * BLOCKS + b) + 1];
  sum += share * part[(row * BLOCKS + b) * D + column];
}
out[row * D + column] = T(sum / total);
