// One warp fetches, another computes; named barriers say what is full and what is empty.
__device__ __forceinline__ void wait_at(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void producer(const float* in, float* out, int tiles) {
  __shared__ float tile[2][32];
  const int lane = threadIdx.x % 32;
  enum { kFull = 1, kEmpty = 3 };
  if (threadIdx.x < 32) {
    for (int i = 0; i < tiles; ++i) {
      if (i >= 2) wait_at(kEmpty + i % 2);
      tile[i % 2][lane] = in[i * 32 + lane];
      arrive_at(kFull + i % 2);
    }
  } else {
    for (int i = 0; i < tiles; ++i) {
      wait_at(kFull + i % 2);
      out[i * 32 + lane] = 2.0f * tile[i % 2][31 - lane];
      if (i + 2 < tiles) arrive_at(kEmpty + i % 2);
    }
  }
}
