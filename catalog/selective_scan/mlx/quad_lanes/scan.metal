// LANES lanes share a channel, each with N / LANES of its states in registers; a SIMD-group has
// 32 / LANES channels. Steps come in tiles of 32: a lane loads one step of each channel of its
// SIMD-group (whole lines, one softplus a step), and the tile passes through threadgroup memory.
constexpr int kStates = (N + LANES - 1) / LANES, kPadded = kStates * LANES;
constexpr int kChannels = 32 / LANES, kTile = 32;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][2 * kPadded + 4];        // B and C of a step
threadgroup float2 steps[SIMDS][kChannels][kTile + 1];  // dt, dt u
threadgroup float ys[SIMDS][kChannels][kTile + 4];

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * kChannels;
const int mine = lane / LANES, part = lane % LANES;

float h[kStates], a[kStates];
for (int i = 0; i < kStates; ++i) {
  const int n = part * kStates + i;
  h[i] = 0.0f;
  a[i] = n < N && first + mine < dim ? A[(first + mine) * N + n] : 0.0f;
  // Base 2 throughout: with softplus, dt arrives divided by ln 2.
  if (!SOFTPLUS) a[i] *= kLog2e;
}
constexpr int kRows = (kPadded + SIMDS - 1) / SIMDS;  // of B, and of C, that this SIMD-group copies
int bc_rows[kRows];
for (int i = 0; i < kRows; ++i) bc_rows[i] = (b * N + min(int(simd) + i * SIMDS, N - 1)) * len;
int rows[kChannels];
float bias[kChannels], skip[kChannels];
for (int c = 0; c < kChannels; ++c) {
  const int d = min(first + c, dim - 1);
  rows[c] = (b * dim + d) * len;
  bias[c] = 0.0f;
#if HAS_BIAS
  bias[c] = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
  skip[c] = D[d];
#endif
}

for (int t0 = 0; t0 < len; t0 += kTile) {
  // Past the end the last step is read again, and dt is 0: the states stay.
  const bool inside = t0 + int(lane) < len;
  const int t = min(t0 + int(lane), len - 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int n = simd + i * SIMDS;
    const float from_b = B[bc_rows[i] + t], from_c = C[bc_rows[i] + t];
    if (kPadded % SIMDS == 0 || n < kPadded) {
      bc[lane][n] = SOFTPLUS ? from_b * kLn2 : from_b;
      bc[lane][kPadded + n] = kPadded == N || n < N ? from_c : 0.0f;
    }
  }
  float x[kChannels];
  for (int c = 0; c < kChannels; ++c) {
    x[c] = u[rows[c] + t];
    const float raw = delta[rows[c] + t];
    float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw, kLog2e, bias[c])) : raw + bias[c];
    dt = inside ? dt : 0.0f;
    steps[simd][c][lane] = float2(dt, dt * x[c]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
  for (int k0 = 0; k0 < kTile; k0 += LANES) {
    float y[LANES];
#pragma unroll
    for (int k = 0; k < LANES; ++k) {
      const float2 s = steps[simd][mine][k0 + k];
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        h[i] = fma(exp2(s.x * a[i]), h[i], s.y * bc[k0 + k][part * kStates + i]);
        sum = fma(bc[k0 + k][kPadded + part * kStates + i], h[i], sum);
      }
      y[k] = sum;
    }
    ys[simd][mine][k0 + part] = sum_transposed<LANES>(y, lane);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (int c = 0; c < kChannels; ++c) {
    float y = ys[simd][c][lane];
#if HAS_D
    y = fma(skip[c], x[c], y);
#endif
#if HAS_Z
    const float gate = z[rows[c] + t];
    y = fast::divide(y * gate, 1.0f + exp2(gate * -kLog2e));
#endif
    if (inside && first + c < dim) out[rows[c] + t] = T(y);
  }
}
