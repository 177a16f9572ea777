// GELU of halves, two at a time.
#include <cuda_fp16.h>

__global__ void gelu(const __half2* __restrict__ in, __half2* __restrict__ out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const __half2 x = in[i];
  const __half2 cube = __hmul2(x, __hmul2(x, x));
  const __half2 inner = __hfma2(cube, __float2half2_rn(0.044715f), x);
  const float2 t = __half22float2(__hmul2(inner, __float2half2_rn(0.79788456f)));
  const __half2 gate = __floats2half2_rn(1.f + tanhf(t.x), 1.f + tanhf(t.y));
  out[i] = x * gate * __half2half2(__float2half(0.5f));
}
