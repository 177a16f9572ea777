// Layer norm, a warp a row, four elements at a time.
#include <cuda_runtime.h>

__device__ float warp_sum(float v) {
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
  return v;
}

__global__ void layer_norm(const float4* __restrict__ in, const float4* __restrict__ weight,
                           const float4* __restrict__ bias, float4* __restrict__ out,
                           float* __restrict__ mean_out, int rows, int columns, float epsilon) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int words = columns / 4;
  in += size_t(row) * words;
  out += size_t(row) * words;
  float sum = 0;
  for (int i = threadIdx.x; i < words; i += warpSize) {
    const float4 v = __ldg(in + i);
    sum += v.x + v.y + v.z + v.w;
  }
  const float mean = warp_sum(sum) / columns;
  float squares = 0;
  for (int i = threadIdx.x; i < words; i += warpSize) {
    const float4 v = in[i];
    const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
    squares += d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
  }
  const float scale = rsqrtf(warp_sum(squares) / columns + epsilon);
  for (int i = threadIdx.x; i < words; i += warpSize) {
    const float4 v = in[i], w = weight[i], b = bias[i];
    __stcs(out + i,
           make_float4((v.x - mean) * scale * w.x + b.x, (v.y - mean) * scale * w.y + b.y,
                       (v.z - mean) * scale * w.z + b.z, (v.w - mean) * scale * w.w + b.w));
  }
  if (threadIdx.x == 0) mean_out[row] = mean;
}
