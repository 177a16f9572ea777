// LANES lanes share a channel, each with N / LANES of its states in registers; a SIMD-group has
// 32 / LANES channels. Steps come in tiles of 32: a lane loads one step of each channel of its
// SIMD-group (whole lines, one softplus a step), and the tile passes through threadgroup memory.
// Sums over the lanes of a channel are taken for LANES steps at once.
constexpr int kStates = (N + LANES - 1) / LANES, kPadded = kStates * LANES;
constexpr int kChannels = 32 / LANES, kTile = 32;
constexpr int kRows = (LANES + SIMDS - 1) / SIMDS;  // lanes' parts of B and C that a SIMD-group copies
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][2 * kPadded + 4];           // of a step: B, C
threadgroup float2 steps[SIMDS][kChannels][kTile + 2];  // dt, dt u
threadgroup float ys[SIMDS][kChannels][kTile + 4];

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * kChannels;
const int mine = lane / LANES, part = lane % LANES;
const int length = len, valid = dim - first;  // channels from `first` on that there are

// Base 2 throughout: with softplus, dt arrives divided by ln 2.
float h[kStates], a[kStates];
#pragma unroll
for (int i = 0; i < kStates; ++i) {
  const int n = part * kStates + i;
  h[i] = 0.0f;
  a[i] = A[min(first + mine, dim - 1) * N + min(n, N - 1)] * (SOFTPLUS ? 1.0f : kLog2e);
}
int bc_rows[kRows][kStates];
#pragma unroll
for (int r = 0; r < kRows; ++r)
#pragma unroll
  for (int i = 0; i < kStates; ++i)
    bc_rows[r][i] = (b * N + min((int(simd) + r * SIMDS) * kStates + i, N - 1)) * len;
int rows[kChannels];
float bias[kChannels], skip[kChannels];
#pragma unroll
for (int c = 0; c < kChannels; ++c) {
  const int d = min(first + c, dim - 1);
  rows[c] = (b * dim + d) * len;
  bias[c] = skip[c] = 0.0f;
#if HAS_BIAS
  bias[c] = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
  skip[c] = D[d];
#endif
}

for (int t0 = 0; t0 < length; t0 += kTile) {
  // Past the end the last step is read again, and dt is 0: the states stay.
  const bool inside = t0 + int(lane) < length;
  const int t = min(t0 + int(lane), length - 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int p = simd + r * SIMDS;
    if (LANES % SIMDS != 0 && p >= LANES) break;
    float from_b[kStates], from_c[kStates];
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      from_b[i] = float(B[bc_rows[r][i] + t]) * (SOFTPLUS ? kLn2 : 1.0f);
      from_c[i] = C[bc_rows[r][i] + t];
      if (kPadded != N && p * kStates + i >= N) from_c[i] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][p * kStates + i] = from_b[i];
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][kPadded + p * kStates + i] = from_c[i];
  }
  float x[kChannels], raw[kChannels], gate[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    x[c] = u[rows[c] + t];
    raw[c] = delta[rows[c] + t];
#if HAS_Z
    gate[c] = z[rows[c] + t];
#endif
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw[c], kLog2e, bias[c])) : raw[c] + bias[c];
    dt = inside ? dt : 0.0f;
    steps[simd][c][lane] = float2(dt, dt * x[c]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
  for (int k0 = 0; k0 < kTile; k0 += LANES) {
    vec<float, LANES> y;
#pragma unroll
    for (int k = 0; k < LANES; k += 2) {
      const float4 two = *(threadgroup const float4*)&steps[simd][mine][k0 + k];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float dt = j ? two.z : two.x, dx = j ? two.w : two.y;
        const threadgroup float* now = &bc[k0 + k + j][part * kStates];
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kStates; ++i) {
          h[i] = fma(exp2(dt * a[i]), h[i], dx * now[i]);
          sum = fma(now[kPadded + i], h[i], sum);
        }
        y[k + j] = sum;
      }
    }
    ys[simd][mine][k0 + part] = sum_transposed(y, lane);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float y[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    y[c] = fma(skip[c], x[c], ys[simd][c][lane]);
#if HAS_Z
    y[c] = fast::divide(y[c] * gate[c], 1.0f + exp2(gate[c] * -kLog2e));
#endif
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (inside && c < valid) out[rows[c] + t] = T(y[c]);
}
