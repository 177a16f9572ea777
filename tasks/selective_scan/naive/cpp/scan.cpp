// The recurrence as it is written: one group a channel, one state at a time, the state in a scalar.
// Every exponential is std::exp. `memory` holds the step sizes of the channel, [len].
#include <cmath>

static float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

extern "C" void scan(const float* u, const float* delta, const float* A, const float* B,
                     const float* C, const float* D, const float* z, const float* delta_bias,
                     float* out, int64_t dim, int64_t state, int64_t len, bool delta_softplus,
                     const ks_group* group) {
  const int64_t d = group->id[0], b = group->id[1];
  const int64_t row = (b * dim + d) * len;
  float* dt = static_cast<float*>(group->memory);
  for (int64_t t = 0; t < len; t++) {
    const float x = delta[row + t] + (delta_bias ? delta_bias[d] : 0.0f);
    dt[t] = delta_softplus ? softplus(x) : x;
    out[row + t] = D ? D[d] * u[row + t] : 0.0f;
  }
  for (int64_t n = 0; n < state; n++) {
    const float a = A[d * state + n];
    const float* Bn = B + (b * state + n) * len;
    const float* Cn = C + (b * state + n) * len;
    float h = 0.0f;
    for (int64_t t = 0; t < len; t++) {
      h = std::exp(dt[t] * a) * h + dt[t] * Bn[t] * u[row + t];
      out[row + t] += Cn[t] * h;
    }
  }
  if (z)
    for (int64_t t = 0; t < len; t++) out[row + t] *= z[row + t] / (1.0f + std::exp(-z[row + t]));
}
