// Sum of all elements: a tree in shared memory, the last warp by shuffles, one atomic a block.
#include <cuda_runtime.h>

__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

extern "C" __global__ void reduce_sum(const float* __restrict__ in, float* total, int n) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[t] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t < 32) {
    const float v = warp_sum(part[t]);
    if (t == 0) atomicAdd(total, v);
  }
}
