// Rows of blocks of 32 signed bytes with a half scale, times a vector quantised the same way.
#include <cuda_fp16.h>

#include <cstdint>

struct BlockQ8 {
  half scale;
  int8_t values[32];
};
static_assert(sizeof(BlockQ8) == 34, "no padding");

__device__ __forceinline__ int word(const int8_t* at, int i) {
  // Two bytes are aligned, four need not be.
  const uint16_t* half_words = reinterpret_cast<const uint16_t*>(at);
  return half_words[2 * i] | half_words[2 * i + 1] << 16;
}

__global__ void dot_q8(const BlockQ8* rows, const BlockQ8* x, float* out, int blocks) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0.f;
  for (int b = threadIdx.x / 8; b < blocks; b += 4) {
    const BlockQ8& w = rows[row * blocks + b];
    const int part = threadIdx.x % 8;
    const int dot = __dp4a(word(w.values, part), word(x[b].values, part), 0);
    sum += __half2float(w.scale) * __half2float(x[b].scale) * dot;
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask, 32);
  if (threadIdx.x == 0) out[row] = sum;
}
