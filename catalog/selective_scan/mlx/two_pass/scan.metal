// LANES lanes share a channel, each with N / LANES of its states in registers; a SIMD-group has
// 32 / LANES channels. Steps come in tiles of 32: a lane loads one step of each channel of its
// SIMD-group (whole lines, one softplus a step), and the tile passes through threadgroup memory. The
// lanes of a channel leave their parts of y there, and a sum is taken by the lane that writes it out:
// no shuffle, and nothing waits for one.
// PHASE 0: all of time. 1: a chunk from a zero state, which leaves its last state and the sum of its
// dt. 2: a chunk from the state it starts from.
constexpr int kStates = (N + LANES - 1) / LANES, kPadded = kStates * LANES;
constexpr int kChannels = 32 / LANES, kTile = 32;
constexpr int kRows = (LANES + SIMDS - 1) / SIMDS;  // lanes' parts of B and C that a SIMD-group copies
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][2 * kPadded + 4];           // of a step: B, C
threadgroup float2 steps[SIMDS][kChannels][kTile + 2];  // dt, dt u
#if PHASE != 1
threadgroup float4 ys[SIMDS][32][kTile / 4];  // of a lane; four steps at (their place + lane) % 8
#endif

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * kChannels;
const int mine = lane / LANES, part = lane % LANES;
const int chunk = threadgroup_position_in_grid.z, length = min(len, (chunk + 1) * CHUNK);
const int valid = dim - first;  // channels from `first` on that there are

// Base 2 throughout: with softplus, dt arrives divided by ln 2.
float h[kStates], a[kStates];
#pragma unroll
for (int i = 0; i < kStates; ++i) {
  const int n = part * kStates + i;
#if PHASE == 2
  h[i] = starts[((b * CHUNKS + chunk) * dim + min(first + mine, dim - 1)) * N + min(n, N - 1)];
#else
  h[i] = 0.0f;
#endif
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
#if HAS_D && PHASE != 1
  skip[c] = D[d];
#endif
}

#if PHASE == 1
float passed[kChannels];
#pragma unroll
for (int c = 0; c < kChannels; ++c) passed[c] = 0.0f;
#endif

for (int t0 = chunk * CHUNK; t0 < length; t0 += kTile) {
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
#if PHASE != 1
      from_c[i] = C[bc_rows[r][i] + t];
      if (kPadded != N && p * kStates + i >= N) from_c[i] = 0.0f;
#endif
    }
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][p * kStates + i] = from_b[i];
#if PHASE != 1
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][kPadded + p * kStates + i] = from_c[i];
#endif
  }
  float x[kChannels], raw[kChannels], gate[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    x[c] = u[rows[c] + t];
    raw[c] = delta[rows[c] + t];
#if HAS_Z && PHASE != 1
    gate[c] = z[rows[c] + t];
#endif
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw[c], kLog2e, bias[c])) : raw[c] + bias[c];
    dt = inside ? dt : 0.0f;
    steps[simd][c][lane] = float2(dt, dt * x[c]);
#if PHASE == 1
    passed[c] += dt;
#endif
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
  for (int k0 = 0; k0 < kTile; k0 += 4) {
    float4 y;
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      const float4 two = *(threadgroup const float4*)&steps[simd][mine][k0 + k];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float dt = j ? two.z : two.x, dx = j ? two.w : two.y;
        const threadgroup float* now = &bc[k0 + k + j][part * kStates];
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kStates; ++i) {
          h[i] = fma(exp2(dt * a[i]), h[i], dx * now[i]);
#if PHASE != 1
          sum = fma(now[kPadded + i], h[i], sum);
#endif
        }
        y[k + j] = sum;
      }
    }
#if PHASE != 1
    ys[simd][lane][(k0 / 4 + lane) % 8] = y;
#endif
  }
#if PHASE != 1
  simdgroup_barrier(mem_flags::mem_threadgroup);
  float y[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < LANES; ++p) {
      const int from = c * LANES + p;
      sum += ((const threadgroup float*)&ys[simd][from][(lane / 4 + from) % 8])[lane % 4];
    }
    y[c] = fma(skip[c], x[c], sum);
#if HAS_Z
    y[c] = fast::divide(y[c] * gate[c], 1.0f + exp2(gate[c] * -kLog2e));
#endif
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    if (inside && c < valid) out[rows[c] + t] = T(y[c]);
#endif
}
#if PHASE == 1
if (mine < valid)
  for (int i = 0; i < kStates; ++i)
    if (part * kStates + i < N)
      ends[((b * CHUNKS + chunk) * dim + first + mine) * N + part * kStates + i] = h[i];
for (int c = 0; c < min(kChannels, valid); ++c) {
  const float sum = simd_sum(passed[c]);
  if (lane == 0) sums[(b * CHUNKS + chunk) * dim + first + c] = sum;
}
#endif
