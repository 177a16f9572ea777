// LANES lanes share a channel, N / LANES states each; their products with C are added up by shuffles
// at every step.
constexpr int kStates = (N + LANES - 1) / LANES;
constexpr float kLog2e = 1.44269504f, kLn2 = 0.69314718f;
const uint lane = thread_index_in_simdgroup;
const int part = lane % LANES;
const int d = thread_position_in_grid.x / LANES, b = thread_position_in_grid.y;
const bool real = d < dim;
const int channel = b * dim + min(d, dim - 1);
float h[kStates], a[kStates];
int bc[kStates];
for (int i = 0; i < kStates; ++i) {
  const int n = min(part * kStates + i, N - 1);
  h[i] = 0.0f;
  a[i] = A[min(d, dim - 1) * N + n] * (SOFTPLUS ? 1.0f : kLog2e);
  bc[i] = (b * N + n) * len;
}
float bias = 0.0f, skip = 0.0f;
#if HAS_BIAS
bias = delta_bias[min(d, dim - 1)] * (SOFTPLUS ? kLog2e : 1.0f);
#endif
#if HAS_D
skip = D[min(d, dim - 1)];
#endif
const int row = channel * len;
for (int t = 0; t < len; ++t) {
  const float x = u[row + t];
  const float raw = delta[row + t];
  const float dt = SOFTPLUS ? softplus2<sizeof(T) == 4>(fma(raw, kLog2e, bias)) : raw + bias;
  const float dx = SOFTPLUS ? dt * kLn2 * x : dt * x;
  float y = 0.0f;
  for (int i = 0; i < kStates; ++i) {
    h[i] = fma(exp2(dt * a[i]), h[i], dx * float(B[bc[i] + t]));
    y = part * kStates + i < N ? fma(float(C[bc[i] + t]), h[i], y) : y;
  }
#pragma unroll
  for (int mask = LANES / 2; mask > 0; mask /= 2) y += simd_shuffle_xor(y, mask);
  y = fma(skip, x, y);
#if HAS_Z
  const float gate = z[row + t];
  y = fast::divide(y * gate, 1.0f + exp2(gate * -kLog2e));
#endif
  if (part == 0 && real) out[row + t] = T(y);
}
