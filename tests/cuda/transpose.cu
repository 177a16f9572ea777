// A tile of 32 x 32 goes through shared memory, so that both sides are read and written by rows.
template <typename T, int kTile = 32, int kRows = 8>
__global__ void transpose(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  const int u = blockIdx.y * kTile + threadIdx.x, v = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (u < rows && v + j < columns) out[(v + j) * rows + u] = tile[threadIdx.x][threadIdx.y + j];
}
