// One thread a state: from chunk to chunk, where each one starts.
const int i = thread_position_in_grid.x, b = thread_position_in_grid.y;
if (i >= dim * N) return;
const float a = A[i] * (SOFTPLUS ? 1.0f : 1.44269504f);
float h = 0.0f;
for (int chunk = 0; chunk < CHUNKS; ++chunk) {
  const int at = (b * CHUNKS + chunk) * dim;
  starts[at * N + i] = h;
  h = fma(exp2(a * sums[at + i / N]), h, ends[at * N + i]);
}
