// One thread a channel walks through time with its states in an array of its own.
const int channel = thread_position_in_grid.x;
if (channel >= batch * dim) return;
const int b = channel / dim, d = channel % dim;
float h[N], a[N];
for (int n = 0; n < N; ++n) {
  h[n] = 0.0f;
  a[n] = A[d * N + n];
}
for (int t = 0; t < len; ++t) {
  const int at = channel * len + t;
  const float x = u[at];
  float dt = delta[at];
#if HAS_BIAS
  dt += delta_bias[d];
#endif
  if (SOFTPLUS) dt = softplus(dt);
  float y = 0.0f;
  for (int n = 0; n < N; ++n) {
    const int bc = (b * N + n) * len + t;
    h[n] = exp(dt * a[n]) * h[n] + dt * float(B[bc]) * x;
    y += float(C[bc]) * h[n];
  }
#if HAS_D
  y += D[d] * x;
#endif
#if HAS_Z
  const float gate = z[at];
  y *= gate / (1.0f + exp(-gate));
#endif
  out[at] = T(y);
}
