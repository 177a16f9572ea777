// LANES lanes share a channel, each with N / LANES of its states in registers; a SIMD-group has
// 32 / LANES channels. Steps come in tiles of 32: a lane loads four steps in a row of one channel
// after the other (one access each, one softplus a step), and the tile passes through threadgroup
// memory. The lanes of a channel leave their parts of y there, four steps at a time, and the lane that
// writes four steps out adds the parts up: everything beside the states comes in fours.
constexpr int kStates = (N + LANES - 1) / LANES, kPadded = kStates * LANES;
constexpr int kChannels = 32 / LANES, kTile = 32, kQuads = kTile / 4;
constexpr int kTurns = (kChannels * kQuads + 31) / 32;  // of 32 lanes over the tile's fours
constexpr int kRows = (LANES + SIMDS - 1) / SIMDS;  // lanes' parts of B and C that a SIMD-group copies
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][2 * kPadded + 4];          // of a step: B, C
threadgroup float4 dts[SIMDS][kChannels][kQuads + 1];  // of four steps
threadgroup float4 dxs[SIMDS][kChannels][kQuads + 1];  // dt u
threadgroup float4 ys[SIMDS][32][kQuads];  // of a lane; four steps at their place ^ lane % 8

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * kChannels;
const int mine = lane / LANES, part = lane % LANES, quad = lane % kQuads;
const int length = len;

// Base 2 throughout: with softplus, dt arrives divided by ln 2.
float h[kStates], a[kStates];
#pragma unroll
for (int i = 0; i < kStates; ++i) {
  h[i] = 0.0f;
  a[i] = A[min(first + mine, dim - 1) * N + min(part * kStates + i, N - 1)] * (SOFTPLUS ? 1.0f : kLog2e);
}
int bc_rows[kRows][kStates];
#pragma unroll
for (int r = 0; r < kRows; ++r)
#pragma unroll
  for (int i = 0; i < kStates; ++i)
    bc_rows[r][i] = (b * N + min((int(simd) + r * SIMDS) * kStates + i, N - 1)) * len;
int rows[kTurns];
float bias[kTurns], skip[kTurns];
#pragma unroll
for (int j = 0; j < kTurns; ++j) {
  const int d = min(first + int(lane) / kQuads + j * (32 / kQuads), dim - 1);
  rows[j] = (b * dim + d) * len;
  bias[j] = skip[j] = 0.0f;
#if HAS_BIAS
  bias[j] = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
  skip[j] = D[d];
#endif
}

for (int t0 = 0; t0 < length; t0 += kTile) {
  const int t = t0 + quad * 4;
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int p = simd + r * SIMDS;
    if (LANES % SIMDS != 0 && p >= LANES) break;
    const int step = WHOLE == kTile ? t0 + int(lane) : min(t0 + int(lane), length - 1);
    float from_b[kStates], from_c[kStates];
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      from_b[i] = float(B[bc_rows[r][i] + step]) * (SOFTPLUS ? kLn2 : 1.0f);
      from_c[i] = C[bc_rows[r][i] + step];
      if (kPadded != N && p * kStates + i >= N) from_c[i] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][p * kStates + i] = from_b[i];
#pragma unroll
    for (int i = 0; i < kStates; ++i) bc[lane][kPadded + p * kStates + i] = from_c[i];
  }
  float4 x[kTurns], raw[kTurns], gate[kTurns];
#pragma unroll
  for (int j = 0; j < kTurns; ++j) {
    x[j] = four<WHOLE>(u + rows[j], t, length);
    raw[j] = four<WHOLE>(delta + rows[j], t, length);
#if HAS_Z
    gate[j] = four<WHOLE>(z + rows[j], t, length);
#endif
  }
#pragma unroll
  for (int j = 0; j < kTurns; ++j) {
    float4 dt;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const float one = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw[j][e], kLog2e, bias[j])) : raw[j][e] + bias[j];
      // Past the end a step is read again, and dt is 0: the states stay.
      dt[e] = WHOLE == kTile || t + (WHOLE == 1 ? e : 0) < length ? one : 0.0f;
    }
    const int c = int(lane) / kQuads + j * (32 / kQuads);
    dts[simd][c][quad] = dt;
    dxs[simd][c][quad] = dt * x[j];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const threadgroup float* now = &bc[0][part * kStates];
#pragma clang loop unroll_count(2)
  for (int q = 0; q < kQuads; ++q) {
    const float4 dt = dts[simd][mine][q], dx = dxs[simd][mine][q];
    float4 y;
#pragma unroll
    for (int k = 0; k < 4; ++k, now += 2 * kPadded + 4) {
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        h[i] = fma(exp2(dt[k] * a[i]), h[i], dx[k] * now[i]);
        sum = fma(now[kPadded + i], h[i], sum);
      }
      y[k] = sum;
    }
    ys[simd][lane][q ^ int(lane % kQuads)] = y;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (int j = 0; j < kTurns; ++j) {
    const int c = int(lane) / kQuads + j * (32 / kQuads);
    float4 y = skip[j] * x[j];
#pragma unroll
    for (int p = 0; p < LANES; ++p) y += ys[simd][c * LANES + p][quad ^ ((c * LANES + p) % kQuads)];
#if HAS_Z
#pragma unroll
    for (int e = 0; e < 4; ++e)
      y[e] = fast::divide(y[e] * gate[j][e], 1.0f + exp2(gate[j][e] * -kLog2e));
#endif
    if (first + c < dim) put_four<WHOLE>(out + rows[j], t, length, y);
  }
}
