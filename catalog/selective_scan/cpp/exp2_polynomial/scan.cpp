// One group a channel, one state at a time. The exponentials of LANES steps are one vector: 2^x
// from a rounding and a polynomial, log2(e) folded into A. The recurrence itself stays scalar.
// `memory` holds the step sizes of the channel and their products with u.
#include <cmath>
#include <cstring>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

constexpr float kLog2e = 1.44269504f;

Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// 2^x, relative error 9e-8 and an ulp of rounding; what is beyond 2^-125 and 2^127 stays there.
Vec exp2(Vec x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: leaves round(x) in the low bits
  constexpr int32_t kShiftBits = 0x4b400000;
  const Vec shifted = x + kShift;
  const Vec f = x - (shifted - kShift);
  Vec p = f * 0.0013264727f + 0.0096715130f;
  p = p * f + 0.055507336f;
  p = p * f + 0.24022242f;
  p = p * f + 0.69314700f;
  p = p * f + 1.0f;
  Int n = (Int)shifted;
  n = n > kShiftBits - 125 ? n : Int{} + (kShiftBits - 125);
  n = n > kShiftBits + 127 ? Int{} + (kShiftBits + 127) : n;
  return (Vec)((Int)p + (n << 23));
}

float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

}  // namespace

extern "C" void scan(const float* u, const float* delta, const float* A, const float* B,
                     const float* C, const float* D, const float* z, const float* delta_bias,
                     float* out, int64_t dim, int64_t state, int64_t len, bool delta_softplus,
                     const ks_group* group) {
  const int64_t d = group->id[0], b = group->id[1];
  const int64_t row = (b * dim + d) * len;
  float* dt = static_cast<float*>(group->memory);  // whole vectors
  float* du = dt + (len + LANES - 1) / LANES * LANES;
  for (int64_t t = 0; t < len; ++t) {
    const float x = delta[row + t] + (delta_bias ? delta_bias[d] : 0.0f);
    dt[t] = delta_softplus ? softplus(x) : x;
    du[t] = dt[t] * u[row + t];
    out[row + t] = D ? D[d] * u[row + t] : 0.0f;
  }
  for (int64_t n = 0; n < state; ++n) {
    const float a = A[d * state + n] * kLog2e;
    const float* Bn = B + (b * state + n) * len;
    const float* Cn = C + (b * state + n) * len;
    float h = 0.0f;
    for (int64_t t0 = 0; t0 < len; t0 += LANES) {
      const Vec decay = exp2(load(dt + t0) * a);
      const int64_t steps = len - t0 < LANES ? len - t0 : LANES;
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = t0 + i;
        h = decay[i] * h + du[t] * Bn[t];
        out[row + t] += Cn[t] * h;
      }
    }
  }
  if (z)
    for (int64_t t = 0; t < len; ++t) out[row + t] *= z[row + t] / (1.0f + std::exp(-z[row + t]));
}
