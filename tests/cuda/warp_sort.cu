// Bitonic sort of 32 keys, one a lane.
__device__ int exchange(int key, int mask, bool ascending) {
  const int other = __shfl_xor_sync(0xffffffffu, key, mask);
  return (key < other) == ascending ? key : other;
}

__global__ void warp_sort(const int* in, int* out) {
  const unsigned lane = threadIdx.x % 32;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int key = in[i];
  for (unsigned size = 2; size <= 32; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const bool up = (lane & size) == 0 || size == 32;
      key = exchange(key, stride, ((lane & stride) == 0) == up);
    }
  out[i] = key;
}
