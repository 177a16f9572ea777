// The largest element and its place, in one 64-bit word; the smallest place wins a tie.
__device__ unsigned long long packed(float value, unsigned index) {
  unsigned bits = __float_as_uint(value);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (unsigned long long)bits << 32 | (0xffffffffu - index);
}

__global__ void argmax(const float* in, unsigned long long* best, int n) {
  unsigned long long own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    own = max(own, packed(in[i], i));
  for (int mask = 16; mask > 0; mask >>= 1) own = max(own, __shfl_xor_sync(~0u, own, mask));
  if (threadIdx.x % 32 == 0) atomicMax(best, own);
}
