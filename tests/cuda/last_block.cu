// The block that finishes last adds up what all have written: a fence and a ticket order them.
__device__ unsigned tickets;

__global__ void last_block(const float* in, float* partial, float* total, int n) {
  __shared__ float part[128];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int h = blockDim.x / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) part[threadIdx.x] += part[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = part[0];
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
}
