// A tile of 64 x 64 a group of 256 threads, four by four elements a thread in registers; tiles of a
// and b, 16 deep, pass through threadgroup memory.
constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256, kA = BK + 1, kB = BN;
threadgroup float a_tile[BM * kA], b_tile[BK * kB];
const uint t = thread_index_in_threadgroup;
const int m0 = threadgroup_position_in_grid.y * BM, n0 = threadgroup_position_in_grid.x * BN;
const int row = t / 16, col = t % 16;  // elements row + 16 i, col + 16 j
float sums[4][4] = {};
for (int k0 = 0; k0 < K; k0 += BK) {
  // All loads, then all stores; past an edge the last element is read, and 0 taken.
  float from_a[BM * BK / THREADS], from_b[BK * BN / THREADS];
#pragma unroll
  for (uint i = 0; i < BM * BK / THREADS; ++i) {
    const int r = (t + i * THREADS) / BK, c = (t + i * THREADS) % BK;
    const float v = a[min(m0 + r, M - 1) * K + min(k0 + c, K - 1)];
    from_a[i] = m0 + r < M && k0 + c < K ? v : 0.0f;
  }
#pragma unroll
  for (uint i = 0; i < BK * BN / THREADS; ++i) {
    const int r = (t + i * THREADS) / BN, c = (t + i * THREADS) % BN;
    const float v = b[min(k0 + r, K - 1) * N + min(n0 + c, N - 1)];
    from_b[i] = k0 + r < K && n0 + c < N ? v : 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint i = 0; i < BM * BK / THREADS; ++i)
    a_tile[(t + i * THREADS) / BK * kA + (t + i * THREADS) % BK] = from_a[i];
#pragma unroll
  for (uint i = 0; i < BK * BN / THREADS; ++i)
    b_tile[(t + i * THREADS) / BN * kB + (t + i * THREADS) % BN] = from_b[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    float left[4], right[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) left[i] = a_tile[(row + 16 * i) * kA + k];
#pragma unroll
    for (int j = 0; j < 4; ++j) right[j] = b_tile[k * kB + col + 16 * j];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] = fma(left[i], right[j], sums[i][j]);
  }
}
#pragma unroll
for (int i = 0; i < 4; ++i)
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int m = m0 + row + 16 * i, n = n0 + col + 16 * j;
    if (m < M && n < N) out[m * N + n] = T(sums[i][j]);
  }
