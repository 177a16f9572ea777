// C = A B in tiles of 16 x 16 through shared memory.
template <int kTile>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0.f;
  for (int from = 0; from < k; from += kTile) {
    tile_a[y][x] = row < m && from + x < k ? a[row * k + from + x] : 0.f;
    tile_b[y][x] = column < n && from + y < k ? b[(from + y) * n + column] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
