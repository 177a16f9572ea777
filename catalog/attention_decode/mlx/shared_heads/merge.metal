// The parts of a head's keys, put together.
const int head = threadgroup_position_in_grid.x;
float best = part_top[head * SPLIT];
for (int s = 1; s < SPLIT; ++s) best = max(best, part_top[head * SPLIT + s]);
float total = 0.0f;
for (int s = 0; s < SPLIT; ++s)
  total = fma(part_total[head * SPLIT + s], exp2(part_top[head * SPLIT + s] - best), total);
for (int d = thread_index_in_threadgroup; d < D; d += THREADS) {
  float sum = 0.0f;
  for (int s = 0; s < SPLIT; ++s)
    sum = fma(part_out[(head * SPLIT + s) * D + d], exp2(part_top[head * SPLIT + s] - best), sum);
  out[head * D + d] = T(sum / total);
}
