// A group a pair; a thread copies VEC neighbours at a time.
const int i = threadgroup_position_in_grid.x;
const int from = pairs[i] / K * W, to = i * W;
for (int w = thread_index_in_threadgroup * VEC; w < W; w += 128 * VEC) {
  T v[VEC];
#pragma unroll
  for (int j = 0; j < VEC; ++j) v[j] = x[from + w + j];
#pragma unroll
  for (int j = 0; j < VEC; ++j) gathered[to + w + j] = v[j];
}
