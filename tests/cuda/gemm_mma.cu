// C = A B^T in half: tiles come by cp.async into two stages, ldmatrix reads them, mma.sync sums.
// A block of 4 warps makes 32 x 32 of C, a warp 16 x 16.
#include <cuda_fp16.h>

#include <cstdint>

constexpr int kBlock = 32, kDepth = 32, kRow = kDepth + 8;

__device__ __forceinline__ void copy16(void* to, const void* from, bool inside) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(address), "l"(from),
               "r"(bytes));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n" ::); }
template <int n>
__device__ __forceinline__ void wait_group() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(n));
}
__device__ __forceinline__ void load_4(uint32_t (&r)[4], const half* from) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void gemm_mma(const half* __restrict__ a, const half* __restrict__ b,
                         float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) half tile_a[2][kBlock][kRow];
  __shared__ __align__(16) half tile_b[2][kBlock][kRow];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int row0 = blockIdx.y * kBlock, column0 = blockIdx.x * kBlock;
  auto fetch = [&](int stage, int from) {
    const int row = thread / 4, part = thread % 4 * 8;
    copy16(&tile_a[stage][row][part], a + (row0 + row) * k + from + part, row0 + row < m);
    copy16(&tile_b[stage][row][part], b + (column0 + row) * k + from + part, column0 + row < n);
    commit();
  };
  float sums[2][4] = {};
  fetch(0, 0);
  const int steps = k / kDepth;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      fetch((step + 1) % 2, (step + 1) * kDepth);
      wait_group<1>();
    } else {
      wait_group<0>();
    }
    __syncthreads();
    const int stage = step % 2, wm = warp / 2 * 16, wn = warp % 2 * 16;
#pragma unroll
    for (int inner = 0; inner < kDepth; inner += 16) {
      uint32_t fa[4], fb[4];
      load_4(fa, &tile_a[stage][wm + lane % 16][inner + lane / 16 * 8]);
      load_4(fb, &tile_b[stage][wn + lane % 8 + lane / 16 * 8][inner + lane / 8 % 2 * 8]);
      multiply(sums[0], fa, fb[0], fb[1]);
      multiply(sums[1], fa, fb[2], fb[3]);
    }
    __syncthreads();
  }
  for (int j = 0; j < 2; ++j) {
    const int row = row0 + warp / 2 * 16 + lane / 4;
    const int column = column0 + warp % 2 * 16 + j * 8 + lane % 4 * 2;
    if (row < m && column < n)
      *reinterpret_cast<float2*>(&c[row * n + column]) = make_float2(sums[j][0], sums[j][1]);
    if (row + 8 < m && column < n)
      *reinterpret_cast<float2*>(&c[(row + 8) * n + column]) = make_float2(sums[j][2], sums[j][3]);
  }
}
