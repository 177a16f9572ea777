// One thread a channel, states in registers. Time comes in tiles of 32 steps: lanes read along time,
// whole lines of one channel after the other, and turn the tile through threadgroup memory; B and C
// of a step lie side by side there for all channels of the group.
constexpr int kTile = 32, kStride = 2 * N + 4;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
threadgroup float bc[kTile][kStride];
threadgroup float2 steps[SIMDS][32][kTile + 1];  // dt, u; then y

const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simd) * 32;
const int d = min(first + int(lane), dim - 1);
float h[N], a[N];
#pragma unroll
for (int n = 0; n < N; ++n) {
  h[n] = 0.0f;
  a[n] = A[d * N + n] * (SOFTPLUS ? 1.0f : kLog2e);
}
float bias = 0.0f, skip = 0.0f;
#if HAS_BIAS
bias = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
skip = D[d];
#endif

for (int t0 = 0; t0 < len; t0 += kTile) {
  const bool inside = t0 + int(lane) < len;
  const int t = min(t0 + int(lane), len - 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int n = simd; n < N; n += SIMDS) {
    const int at = (b * N + n) * len + t;
    bc[lane][n] = float(B[at]) * (SOFTPLUS ? kLn2 : 1.0f);
    bc[lane][N + n] = C[at];
  }
  for (int c = 0; c < 32; ++c) {
    const int at = (b * dim + min(first + c, dim - 1)) * len + t;
    steps[simd][c][lane] = float2(delta[at], u[at]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int count = min(kTile, len - t0);
#pragma clang loop unroll(disable)
  for (int k = 0; k < count; ++k) {
    const float2 s = steps[simd][lane][k];
    const float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(s.x, kLog2e, bias)) : s.x + bias;
    const float dx = dt * s.y;
    float y = skip * s.y;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      h[n] = fma(exp2(dt * a[n]), h[n], dx * bc[k][n]);
      y = fma(bc[k][N + n], h[n], y);
    }
    steps[simd][lane][k].x = y;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (int c = 0; c < 32; ++c) {
    if (!inside || first + c >= dim) continue;
    const int at = (b * dim + first + c) * len + t;
    float y = steps[simd][c][lane].x;
#if HAS_Z
    const float gate = z[at];
    y = fast::divide(y * gate, 1.0f + exp2(gate * -kLog2e));
#endif
    out[at] = T(y);
  }
}
