// A SIMD-group walks CHANNELS channels in tiles of 32 * STEPS steps, STEPS to a lane. Each lane runs
// its steps from a zero state; a scan of (decay, state) over the lanes, by shuffles that fill with the
// identity (1, 0), gives the state each lane really starts from; the steps then run again on stored
// decays. The last lane's state is carried to the next tile, state n in lane n.
constexpr int kTile = 32 * STEPS, kBlocks = (N + 31) / 32;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
const uint lane = thread_index_in_simdgroup;
const int b = threadgroup_position_in_grid.y;
const int first = (threadgroup_position_in_grid.x * SIMDS + simdgroup_index_in_threadgroup) * CHANNELS;
if (first >= dim) return;  // the whole SIMD-group; there is no barrier

int rows[CHANNELS];
float a[CHANNELS][kBlocks], carry[CHANNELS][kBlocks];
float bias[CHANNELS], skip[CHANNELS];
#pragma unroll
for (int c = 0; c < CHANNELS; ++c) {
  const int d = min(first + c, dim - 1);
  rows[c] = (b * dim + d) * len;
  bias[c] = skip[c] = 0.0f;
#if HAS_BIAS
  bias[c] = delta_bias[d] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
  skip[c] = D[d];
#endif
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    a[c][block] = A[d * N + min(block * 32 + int(lane), N - 1)] * (SOFTPLUS ? 1.0f : kLog2e);
    carry[c][block] = 0.0f;
  }
}

for (int t0 = 0; t0 < len; t0 += kTile) {
  const int t = t0 + lane * STEPS;
  const bool whole = t0 + kTile <= len;
  float dt[CHANNELS][STEPS], dx[CHANNELS][STEPS], y[CHANNELS][STEPS], sum[CHANNELS];
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    float x[STEPS];
    load_steps<STEPS>(x, u, rows[c], t, len, whole);
    load_steps<STEPS>(dt[c], delta, rows[c], t, len, whole);
    sum[c] = 0.0f;
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      float v = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(dt[c][k], kLog2e, bias[c])) : dt[c][k] + bias[c];
      v = whole || t + k < len ? v : 0.0f;  // past the end states stay
      dt[c][k] = v;
      dx[c][k] = SOFTPLUS ? v * kLn2 * x[k] : v * x[k];
      y[c][k] = skip[c] * x[k];
      sum[c] += v;
    }
  }
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma clang loop unroll(disable)
    for (int n = 0; n < min(32, N - block * 32); ++n) {
      float from_b[STEPS], from_c[STEPS];
      const int at = (b * N + block * 32 + n) * len;
      load_steps<STEPS>(from_b, B, at, t, len, whole);
      load_steps<STEPS>(from_c, C, at, t, len, whole);
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c) {
        const float an = simd_shuffle(a[c][block], n), start = simd_shuffle(carry[c][block], n);
        float decay[STEPS], input[STEPS];
        float h = lane == 0 ? start : 0.0f, all = exp2(an * sum[c]);
#pragma unroll
        for (int k = 0; k < STEPS; ++k) {
          decay[k] = exp2(an * dt[c][k]);
          input[k] = dx[c][k] * from_b[k];
          h = fma(decay[k], h, input[k]);
        }
        scan_lanes(all, h);
        const float last = simd_shuffle(h, 31);
        h = simd_shuffle_and_fill_up(h, start, 1);
        carry[c][block] = int(lane) == n ? last : carry[c][block];
#pragma unroll
        for (int k = 0; k < STEPS; ++k) {
          h = fma(decay[k], h, input[k]);
          y[c][k] = fma(from_c[k], h, y[c][k]);
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < CHANNELS; ++c) {
    if (first + c >= dim) continue;
#if HAS_Z
    float gate[STEPS];
    load_steps<STEPS>(gate, z, rows[c], t, len, whole);
#pragma unroll
    for (int k = 0; k < STEPS; ++k)
      y[c][k] = fast::divide(y[c][k] * gate[k], 1.0f + exp2(gate[k] * -kLog2e));
#endif
#pragma unroll
    for (int k = 0; k < STEPS; ++k)
      if (whole || t + k < len) out[rows[c] + t + k] = T(y[c][k]);
  }
}
