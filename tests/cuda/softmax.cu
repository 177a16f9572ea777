// Softmax of rows, a block a row; with the host program that a file like this has.
#include <cuda_runtime.h>

#include <cfloat>
#include <cstdio>
#include <vector>

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t error = (call);                            \
    if (error != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                              \
    }                                                            \
  } while (0)

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
  static constexpr float kNeutral = 0.0f;
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
  static constexpr float kNeutral = -FLT_MAX;
};

template <typename Op, int kThreads>
__device__ float block_reduce(float v) {
  __shared__ float part[kThreads / 32];
  const Op op;
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) v = op(v, __shfl_xor_sync(0xffffffffu, v, mask));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = Op::kNeutral;
  for (int i = 0; i < kThreads / 32; ++i) v = op(v, part[i]);
  __syncthreads();
  return v;
}

template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    softmax(const T* __restrict__ in, T* __restrict__ out, int columns) {
  const T* row = in + blockIdx.x * columns;
  float most = -FLT_MAX;
  for (int i = threadIdx.x; i < columns; i += kThreads) most = fmaxf(most, float(row[i]));
  most = block_reduce<Max, kThreads>(most);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) sum += __expf(float(row[i]) - most);
  sum = block_reduce<Sum, kThreads>(sum);
  const float scale = __frcp_rn(sum);
  for (int i = threadIdx.x; i < columns; i += kThreads)
    out[blockIdx.x * columns + i] = T(__expf(float(row[i]) - most) * scale);
}

static std::vector<float> reference(const std::vector<float>& in);

int main() {
  std::vector<float> host(64 * 300);
  float *in = nullptr, *out = nullptr;
  CHECK(cudaMalloc(&in, host.size() * sizeof(float)));
  CHECK(cudaMalloc(&out, host.size() * sizeof(float)));
  CHECK(cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  softmax<float, 128><<<64, 128>>>(in, out, 300);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
