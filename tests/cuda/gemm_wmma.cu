// C = A B with half inputs and float sums, a warp a tile of 16 x 16, by nvcuda::wmma.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void gemm_wmma(const half* a, const half* b, float* c, int m, int n, int k) {
  const int tile_m = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  const int tile_n = blockIdx.y;
  if (tile_m * 16 >= m) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + tile_m * 16 * k + i, k);
    wmma::load_matrix_sync(fb, b + tile_n * 16 * k + i, k);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
  wmma::store_matrix_sync(c + tile_m * 16 * n + tile_n * 16, sum, n, wmma::mem_row_major);
}
