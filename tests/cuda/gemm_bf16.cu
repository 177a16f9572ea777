// 16 x 8 of C, a warp: bfloat16 by mma.sync m16n8k8 and m16n8k16 in turns, ldmatrix x2 and x1.
#include <cuda_bf16.h>

#include <cstdint>

__global__ void gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[16][24], tile_b[24][8];
  const int lane = threadIdx.x;
  const int row0 = blockIdx.y * 16, column0 = blockIdx.x * 8;
  float d[4] = {};
  for (int from = 0; from < k; from += 24) {
    __syncwarp();
    for (int i = lane; i < 16 * 24; i += 32)
      tile_a[i / 24][i % 24] = a[(row0 + i / 24) * k + from + i % 24];
    for (int i = lane; i < 24 * 8; i += 32)
      tile_b[i / 8][i % 8] = b[(from + i / 8) * n + column0 + i % 8];
    __syncwarp();
    uint32_t fa[4], fb[2], ga[2], gb;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(&tile_a[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(&tile_b[lane % 16][0])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(ga[0]), "=r"(ga[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(&tile_a[lane % 16][16])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(gb)
                 : "r"((uint32_t)__cvta_generic_to_shared(&tile_b[16 + lane % 8][0])));
    asm volatile(
        "{ mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3}; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(ga[0]), "r"(ga[1]), "r"(gb));
  }
  const int row = row0 + lane / 4, column = column0 + lane % 4 * 2;
  c[row * n + column] = d[0], c[row * n + column + 1] = d[1];
  c[(row + 8) * n + column] = d[2], c[(row + 8) * n + column + 1] = d[3];
}
