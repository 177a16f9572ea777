// out = a + scale * b in bfloat16, eight elements an access.
#include <cuda_bf16.h>

struct alignas(16) Pack {
  __nv_bfloat162 part[4];
};

__global__ void residual(const Pack* a, const Pack* b, Pack* out, int packs, float scale) {
  const __nv_bfloat162 factor = __float2bfloat162_rn(scale);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < packs; i += blockDim.x * gridDim.x) {
    const Pack x = a[i], y = b[i];
    Pack r;
#pragma unroll
    for (int j = 0; j < 4; ++j) r.part[j] = __hfma2(y.part[j], factor, x.part[j]);
    out[i] = r;
  }
}
