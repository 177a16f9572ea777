// LANES lanes share a channel, each with N / LANES of its states in registers; a SIMD-group has
// 32 / LANES channels. Steps come in tiles of 32, which pass through threadgroup memory: a lane loads,
// prepares and writes out four neighbouring steps at a time, eight lanes a channel. The lanes that
// share a channel leave their parts of y there, four steps at once, and the lane that writes those out
// adds them up.
constexpr int kStates = (N + LANES - 1) / LANES, kPadded = kStates * LANES;
constexpr int kChannels = 32 / LANES, kTile = 32, kPasses = kChannels / 4;
constexpr int kRows = (LANES + SIMDS - 1) / SIMDS;  // lanes' parts of B and C that a SIMD-group copies
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][2 * kPadded + 4];           // of a step: B, C
threadgroup float2 steps[SIMDS][kChannels][kTile + 2];  // dt, dt u
threadgroup float4 ys[SIMDS][32][kTile / 4];  // of a lane; four steps at (their place + lane) % 8

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * kChannels;
const int mine = lane / LANES, part = lane % LANES;  // in the loop over steps
const int row4 = lane / 8, block = lane % 8;         // where steps are loaded and written
const int length = len, valid = dim - first;         // channels from `first` on that there are

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
    bc_rows[r][i] = (b * N + min((int(simd) + r * SIMDS) * kStates + i, N - 1)) * length;
int rows[kPasses];
float bias[kPasses], skip[kPasses];
#pragma unroll
for (int p = 0; p < kPasses; ++p) {
  const int d = min(first + p * 4 + row4, dim - 1);
  rows[p] = (b * dim + d) * length;
  bias[p] = skip[p] = 0.0f;
#if HAS_BIAS
  bias[p] = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
  skip[p] = D[d];
#endif
}

for (int t0 = 0; t0 < length; t0 += kTile) {
  const bool whole = t0 + kTile <= length;
  const int t = t0 + 4 * block;
  float from_b[kRows][kStates], from_c[kRows][kStates];
  float x[kPasses][4], raw[kPasses][4], gate[kPasses][4];
  if (whole) {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        from_b[r][i] = B[bc_rows[r][i] + t0 + lane];
        from_c[r][i] = C[bc_rows[r][i] + t0 + lane];
      }
#pragma unroll
    for (int p = 0; p < kPasses; ++p)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        x[p][k] = u[rows[p] + t + k];
        raw[p][k] = delta[rows[p] + t + k];
#if HAS_Z
        gate[p][k] = z[rows[p] + t + k];
#endif
      }
  } else {  // past the end the last step is read again
    for (int r = 0; r < kRows; ++r)
      for (int i = 0; i < kStates; ++i) {
        const int at = bc_rows[r][i] + min(t0 + int(lane), length - 1);
        from_b[r][i] = B[at];
        from_c[r][i] = C[at];
      }
    for (int p = 0; p < kPasses; ++p)
      for (int k = 0; k < 4; ++k) {
        const int at = rows[p] + min(t + k, length - 1);
        x[p][k] = u[at];
        raw[p][k] = delta[at];
#if HAS_Z
        gate[p][k] = z[at];
#endif
      }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int p = simd + r * SIMDS;
    if (LANES % SIMDS != 0 && p >= LANES) break;
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][p * kStates + i] = from_b[r][i] * (SOFTPLUS ? kLn2 : 1.0f);
#pragma unroll
    for (int i = 0; i < kStates; ++i)
      bc[lane][kPadded + p * kStates + i] =
          kPadded == N || p * kStates + i < N ? from_c[r][i] : 0.0f;
  }
#pragma unroll
  for (int p = 0; p < kPasses; ++p) {
    float dt[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      dt[k] = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw[p][k], kLog2e, bias[p]))
                       : raw[p][k] + bias[p];
      dt[k] = t + k < length ? dt[k] : 0.0f;  // past the end the states stay
    }
    threadgroup float4* to = (threadgroup float4*)&steps[simd][p * 4 + row4][4 * block];
    to[0] = float4(dt[0], dt[0] * x[p][0], dt[1], dt[1] * x[p][1]);
    to[1] = float4(dt[2], dt[2] * x[p][2], dt[3], dt[3] * x[p][3]);
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
          sum = fma(now[kPadded + i], h[i], sum);
        }
        y[k + j] = sum;
      }
    }
    ys[simd][lane][(k0 / 4 + lane) % 8] = y;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int p = 0; p < kPasses; ++p) {
    const int c = p * 4 + row4;
    float4 sum = 0.0f;
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += ys[simd][c * LANES + l][(block + c * LANES + l) % 8];
    float y[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      y[k] = fma(skip[p], x[p][k], sum[k]);
#if HAS_Z
      // gate / (1 + e^-gate); a quotient costs more than two powers.
      y[k] *= gate[p][k] * exp2(-log2(1.0f + exp2(gate[p][k] * -kLog2e)));
#endif
    }
    if (c >= valid) continue;
    if (whole) {
#pragma unroll
      for (int k = 0; k < 4; ++k) out[rows[p] + t + k] = T(y[k]);
    } else {
      for (int k = 0; k < 4; ++k)
        if (t + k < length) out[rows[p] + t + k] = T(y[k]);
    }
  }
}
