// One thread a channel, states in registers. Exponentials in base 2: log2(e) goes into A once, and
// with softplus it cancels, as dt then arrives divided by ln 2.
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
const int channel = thread_position_in_grid.x;
if (channel >= batch * dim) return;
const int b = channel / dim, d = channel % dim;
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
const int row = channel * len;
for (int t = 0; t < len; ++t) {
  const float x = u[row + t];
  const float raw = delta[row + t];
  const float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw, kLog2e, bias)) : raw + bias;
  const float dx = SOFTPLUS ? dt * kLn2 * x : dt * x;
  float y = skip * x;
  int bc = b * N * len + t;
#pragma unroll
  for (int n = 0; n < N; ++n, bc += len) {
    h[n] = fma(exp2(dt * a[n]), h[n], dx * float(B[bc]));
    y = fma(float(C[bc]), h[n], y);
  }
#if HAS_Z
  const float gate = z[row + t];
  y = fast::divide(y * gate, 1.0f + exp2(gate * -kLog2e));
#endif
  out[row + t] = T(y);
}
