// A tile of 64 x 64 a group of 256 threads, four by four elements a thread in registers; tiles of a
// and b, 16 deep, pass through threadgroup memory.
constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256, kA = BK + 1, kB = BN;
threadgroup float a_tile[BM * kA], b_tile[BK * kB];
const int t = thread_index_in_threadgroup;
const int m0 = threadgroup_position_in_grid.y * BM, n0 = threadgroup_position_in_grid.x * BN;
const int row = t / 16, col = t % 16;  // elements row + 16 i, col + 16 j
float sums[4][4] = {};
for (int k0 = 0; k0 < K; k0 += BK) {
  for (int i = t; i < BM * BK; i += THREADS) {
    const int r = i / BK, c = i % BK;
    a_tile[r * kA + c] = m0 + r < M && k0 + c < K ? float(a[(m0 + r) * K + k0 + c]) : 0.0f;
  }
  for (int i = t; i < BK * BN; i += THREADS) {
    const int r = i / BN, c = i % BN;
    b_tile[r * kB + c] = k0 + r < K && n0 + c < N ? float(b[(k0 + r) * N + n0 + c]) : 0.0f;
  }
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
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
#pragma unroll
for (int i = 0; i < 4; ++i)
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int m = m0 + row + 16 * i, n = n0 + col + 16 * j;
    if (m < M && n < N) out[m * N + n] = T(sums[i][j]);
  }
