// 16 x 8 of C, a warp: tf32 by mma.sync m16n8k8, the operands rounded as the hardware asks.
#include <cstdint>

__device__ uint32_t to_tf32(float x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

__global__ void gemm_tf32(const float* a, const float* b, float* c, int n, int k) {
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const int row0 = blockIdx.y * 16, column0 = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < k; i += 8) {
    const uint32_t fa[4] = {
        to_tf32(a[(row0 + g) * k + i + t]), to_tf32(a[(row0 + g + 8) * k + i + t]),
        to_tf32(a[(row0 + g) * k + i + t + 4]), to_tf32(a[(row0 + g + 8) * k + i + t + 4])};
    const uint32_t fb[2] = {to_tf32(b[(i + t) * n + column0 + g]),
                            to_tf32(b[(i + t + 4) * n + column0 + g])};
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "f"(d[0]),
          "f"(d[1]), "f"(d[2]), "f"(d[3]));
  }
  float* to = c + (row0 + g) * n + column0 + 2 * t;
  to[0] = d[0], to[1] = d[1];
  to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
