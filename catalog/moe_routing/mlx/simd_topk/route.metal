// A SIMD-group a token.
const int lane = thread_index_in_simdgroup;
const int n = threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup;
if (n >= N) return;  // the whole SIMD-group; there is no barrier
TopK<E, K> top;
top.find(logits, n * E, lane);
#pragma unroll
for (int c = 0; c < K; ++c)
  if (lane == c % 32) {
    weights[n * K + c] = top.weight[c];
    experts[n * K + c] = top.expert[c];
  }
