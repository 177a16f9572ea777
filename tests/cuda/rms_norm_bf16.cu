// RMS norm of bfloat16 rows in pairs; the sum of squares through dynamic shared memory.
#include <cuda_bf16.h>

__global__ void rms_norm(const __nv_bfloat162* in, const __nv_bfloat162* weight,
                         __nv_bfloat162* out, int pairs, float epsilon) {
  extern __shared__ float part[];
  const __nv_bfloat162* row = in + blockIdx.x * pairs;
  float sum = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(row[i]);
    sum = fmaf(v.x, v.x, fmaf(v.y, v.y, sum));
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned n = blockDim.x / 2; n > 0; n >>= 1) {
    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
    __syncthreads();
  }
  const float scale = rsqrtf(part[0] / (2 * pairs) + epsilon);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(row[i]);
    out[blockIdx.x * pairs + i] =
        __hmul2(__floats2bfloat162_rn(v.x * scale, v.y * scale), weight[i]);
  }
}
