// Kernels whose times on Apple GPUs were published: chains of FMAs, a copy, an empty kernel, a GEMM
// on simdgroup matrices, a Mamba-2 update. Written for the time model's table (points.json).
#include <metal_stdlib>
using namespace metal;

template <typename T, int kChains>
kernel void fma_chains(device T* out [[buffer(0)]], constant int& rounds [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  T x[kChains];
  const T a = T(0.999), b = T(i & 7);
  for (int c = 0; c < kChains; ++c) x[c] = T(c) + b;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int n = 0; n < 64 / kChains; ++n)
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = fma(x[c], a, b);
  }
  T sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[i] = sum;
}
template [[host_name("fma_f32_1")]] [[kernel]] decltype(fma_chains<float, 1>) fma_chains<float, 1>;
template [[host_name("fma_f32_4")]] [[kernel]] decltype(fma_chains<float, 4>) fma_chains<float, 4>;
template [[host_name("fma_f32_8")]] [[kernel]] decltype(fma_chains<float, 8>) fma_chains<float, 8>;
template [[host_name("fma_f16_1")]] [[kernel]] decltype(fma_chains<half, 1>) fma_chains<half, 1>;

kernel void copy(device const float4* in [[buffer(0)]], device float4* out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = in[i];
}

kernel void add_one(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] += 1;
}

// C = A B, all [n, n]; a group of four SIMD-groups makes a tile of 64 x 64, each a quarter.
template <typename T>
kernel void gemm(device const T* A [[buffer(0)]], device const T* B [[buffer(1)]],
                 device T* C [[buffer(2)]], constant int& n [[buffer(3)]],
                 uint2 tile [[threadgroup_position_in_grid]],
                 uint simd [[simdgroup_index_in_threadgroup]],
                 uint t [[thread_index_in_threadgroup]]) {
  constexpr int kTile = 64, kDepth = 16, kStride = kTile + 16 / sizeof(T);
  constexpr int kStrideA = kDepth + 16 / sizeof(T);
  threadgroup T a[kTile * kStrideA];
  threadgroup T b[kDepth * kStride];
  const int row = tile.y * kTile, column = tile.x * kTile;
  const int simd_row = 32 * (simd / 2), simd_column = 32 * (simd % 2);
  simdgroup_matrix<float, 8, 8> c[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  // Where this thread's part of each tile comes from and goes to: 8 elements a row of A, of B.
  device const T* from_a = A + (row + t / 2) * n + t % 2 * 8;
  device const T* from_b = B + t / 8 * n + column + t % 8 * 8;
  threadgroup T* to_a = a + t / 2 * kStrideA + t % 2 * 8;
  threadgroup T* to_b = b + t / 8 * kStride + t % 8 * 8;
  for (int k = 0; k < n; k += kDepth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int e = 0; e < 8; ++e) to_a[e] = from_a[e];
#pragma unroll
    for (int e = 0; e < 8; ++e) to_b[e] = from_b[e];
    from_a += kDepth;
    from_b += kDepth * n;
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (int kk = 0; kk < kDepth; kk += 8) {
      simdgroup_matrix<T, 8, 8> left[4], right[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        simdgroup_load(left[i], a + (simd_row + 8 * i) * kStrideA + kk, kStrideA);
        simdgroup_load(right[i], b + kk * kStride + simd_column + 8 * i, kStride);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          simdgroup_multiply_accumulate(c[i][j], left[i], right[j], c[i][j]);
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      simdgroup_matrix<T, 8, 8> out;
      out.thread_elements()[0] = T(c[i][j].thread_elements()[0]);
      out.thread_elements()[1] = T(c[i][j].thread_elements()[1]);
      simdgroup_store(out, C + (row + simd_row + 8 * i) * n + column + simd_column + 8 * j, n);
    }
}
template [[host_name("gemm_f32")]] [[kernel]] decltype(gemm<float>) gemm<float>;
template [[host_name("gemm_f16")]] [[kernel]] decltype(gemm<half>) gemm<half>;

// Mamba-2, a few tokens: a SIMD-group for each of [head, row of the head], 128 states in registers.
// x: [tokens, heads, rows]; dt: [tokens, heads]; B, C: [tokens, groups, 128]; state: [heads, rows, 128].
kernel void ssm_step(device const bfloat* x [[buffer(0)]], device const float* dt [[buffer(1)]],
                     device const bfloat* B [[buffer(2)]], device const bfloat* C [[buffer(3)]],
                     device const float* A [[buffer(4)]], device const float* state [[buffer(5)]],
                     device bfloat* y [[buffer(6)]], device float* next [[buffer(7)]],
                     constant int& tokens [[buffer(8)]],
                     uint3 at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  constexpr int kHeads = 64, kRows = 64, kStates = 128, kGroups = 8;
  const int head = at.z, row = at.y;
  float h[4];
  for (int i = 0; i < 4; ++i) h[i] = state[(head * kRows + row) * kStates + lane * 4 + i];
  for (int t = 0; t < tokens; ++t) {
    const float step = dt[t * kHeads + head], decay = exp(A[head] * step);
    const float in = float(x[(t * kHeads + head) * kRows + row]) * step;
    float sum = 0;
    const int group = (t * kGroups + head / (kHeads / kGroups)) * kStates;
    for (int i = 0; i < 4; ++i) {
      h[i] = decay * h[i] + in * float(B[group + lane * 4 + i]);
      sum += h[i] * float(C[group + lane * 4 + i]);
    }
    sum = simd_sum(sum);
    if (lane == 0) y[(t * kHeads + head) * kRows + row] = bfloat(sum);
  }
  for (int i = 0; i < 4; ++i) next[(head * kRows + row) * kStates + lane * 4 + i] = h[i];
}
