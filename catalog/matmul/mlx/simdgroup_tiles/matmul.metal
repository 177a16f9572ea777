// A tile of TILE x TILE a group of four SIMD-groups, a quarter each, as 8x8 matrices in registers; tiles
// of a and b, 16 deep, pass through threadgroup memory, as does the result.
constexpr int BM = TILE, BN = TILE, BK = 16, THREADS = 128, kA = BK + 4, kB = BN + 4, kSide = TILE / 16;
constexpr int kTiles = BM * kA + BK * kB;
threadgroup float shared[kTiles > BM * kB ? kTiles : BM * kB];
threadgroup float* a_tile = shared;
threadgroup float* b_tile = shared + BM * kA;
const uint t = thread_index_in_threadgroup, simd = simdgroup_index_in_threadgroup;
const int m0 = threadgroup_position_in_grid.y * BM, n0 = threadgroup_position_in_grid.x * BN;
const int row = simd / 2 * (TILE / 2), col = simd % 2 * (TILE / 2);
simdgroup_matrix<float, 8, 8> sums[kSide][kSide];
#pragma unroll
for (int i = 0; i < kSide; ++i)
#pragma unroll
  for (int j = 0; j < kSide; ++j) sums[i][j] = simdgroup_matrix<float, 8, 8>(0.0f);
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
  for (int k = 0; k < BK; k += 8) {
    simdgroup_matrix<float, 8, 8> left[kSide], right[kSide];
#pragma unroll
    for (int i = 0; i < kSide; ++i) simdgroup_load(left[i], a_tile + (row + 8 * i) * kA + k, kA);
#pragma unroll
    for (int j = 0; j < kSide; ++j) simdgroup_load(right[j], b_tile + k * kB + col + 8 * j, kB);
#pragma unroll
    for (int i = 0; i < kSide; ++i)
#pragma unroll
      for (int j = 0; j < kSide; ++j)
        simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
for (int i = 0; i < kSide; ++i)
#pragma unroll
  for (int j = 0; j < kSide; ++j)
    simdgroup_store(sums[i][j], shared + (row + 8 * i) * kB + col + 8 * j, kB);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = t; i < BM * BN; i += THREADS) {
  const int m = m0 + int(i / BN), n = n0 + int(i % BN);
  if (m < M && n < N) out[m * N + n] = T(shared[i / BN * kB + i % BN]);
}
