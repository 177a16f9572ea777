// 64 bins: counted in shared memory, then added to the whole.
__global__ void histogram(const unsigned char* __restrict__ in, unsigned int* bins, int n) {
  __shared__ unsigned int own[64];
  for (int i = threadIdx.x; i < 64; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const uchar4* words = reinterpret_cast<const uchar4*>(in);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    const uchar4 v = words[i];
    atomicAdd(&own[v.x & 63], 1u);
    atomicAdd(&own[v.y & 63], 1u);
    atomicAdd(&own[v.z & 63], 1u);
    atomicAdd(&own[v.w & 63], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
