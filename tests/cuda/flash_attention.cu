// Attention forward, 64 elements a head: 16 queries a warp, keys and values by tiles of 16, scores
// and sums by mma.sync in half, the softmax online in base 2.
#include <cuda_fp16.h>

#include <cstdint>

constexpr int kHead = 64, kKeys = 16, kRow = kHead + 8;

__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
__device__ __forceinline__ uint32_t in_shared(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
__device__ __forceinline__ void multiply(float* d, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void attention(const half* __restrict__ q, const half* __restrict__ k,
                          const half* __restrict__ v, half* __restrict__ out, int length,
                          float scale) {
  extern __shared__ __align__(16) unsigned char raw[];
  half(*tile_k)[kRow] = reinterpret_cast<half(*)[kRow]>(raw);
  half(*tile_v)[kRow] = tile_k + kKeys;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int head = blockIdx.y * length * kHead;
  const int row = (blockIdx.x * warps + warp) * 16 + lane / 4;
  const float scale_2 = scale * 1.4426950408889634f;

  uint32_t fq[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      fq[i][j] = *reinterpret_cast<const uint32_t*>(
          &q[head + (row + j % 2 * 8) * kHead + i * 16 + j / 2 * 8 + lane % 4 * 2]);
  float sums[8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (int from = 0; from < length; from += kKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * kHead / 8; i += blockDim.x) {
      const int r = i / (kHead / 8), c = i % (kHead / 8) * 8;
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(in_shared(&tile_k[r][c])),
                   "l"(&k[head + (from + r) * kHead + c]));
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(in_shared(&tile_v[r][c])),
                   "l"(&v[head + (from + r) * kHead + c]));
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float scores[2][4] = {};
    for (int i = 0; i < 4; ++i) {
      uint32_t b[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                   : "r"(in_shared(&tile_k[lane % 8 + lane / 16 * 8][i * 16 + lane / 8 % 2 * 8])));
      multiply(scores[0], fq[i], b[0], b[1]);
      multiply(scores[1], fq[i], b[2], b[3]);
    }
    uint32_t fp[4];
    for (int h = 0; h < 2; ++h) {  // the rows lane / 4 and lane / 4 + 8
      float m = most[h];
      for (int j = 0; j < 2; ++j)
        m = fmaxf(m, fmaxf(scores[j][2 * h], scores[j][2 * h + 1]) * scale_2);
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      const float shrink = exp2_fast(most[h] - m);
      most[h] = m;
      total[h] *= shrink;
      for (int j = 0; j < 8; ++j) sums[j][2 * h] *= shrink, sums[j][2 * h + 1] *= shrink;
      for (int j = 0; j < 2; ++j) {
        const float a = exp2_fast(scores[j][2 * h] * scale_2 - m);
        const float b = exp2_fast(scores[j][2 * h + 1] * scale_2 - m);
        total[h] += a + b;
        fp[2 * j + h] = pack(a, b);
      }
    }
    for (int j = 0; j < 4; ++j) {
      uint32_t b[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                   : "r"(in_shared(&tile_v[lane % 16][j * 16 + lane / 16 * 8])));
      multiply(sums[2 * j], fp, b[0], b[1]);
      multiply(sums[2 * j + 1], fp, b[2], b[3]);
    }
  }
  for (int h = 0; h < 2; ++h) {
    float sum = total[h] + __shfl_xor_sync(0xffffffffu, total[h], 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    for (int j = 0; j < 8; ++j)
      *reinterpret_cast<half2*>(&out[head + (row + 8 * h) * kHead + j * 8 + lane % 4 * 2]) =
          __floats2half2_rn(sums[j][2 * h] / sum, sums[j][2 * h + 1] / sum);
  }
}
