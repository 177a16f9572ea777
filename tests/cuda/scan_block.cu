// Inclusive scan of each block's elements: within warps by shuffles, then over the warps' totals.
#include <cuda_runtime.h>

__device__ __forceinline__ int warp_scan(int v, int lane) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffff, v, offset);
    if (lane >= offset) v += before;
  }
  return v;
}

__global__ void scan_block(const int* in, int* out, int n) {
  __shared__ int totals[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = warp_scan(i < n ? in[i] : 0, lane);
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    const int warps = blockDim.x / 32;
    const int sum = warp_scan(lane < warps ? totals[lane] : 0, lane);
    totals[lane] = sum;
  }
  __syncthreads();
  if (warp > 0) v += totals[warp - 1];
  if (i < n) out[i] = v;
}
