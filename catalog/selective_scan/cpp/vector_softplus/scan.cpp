// One group a channel, one state at a time; everything but the recurrence in vectors of LANES
// steps: step sizes (softplus), decays, the gate. The exponential is 2^x by polynomial, log2(e)
// folded into A; softplus adds a polynomial for the logarithm. `memory` holds the step sizes of the
// channel and their products with u.
#include <algorithm>
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
/// The first `count` elements; lanes beyond are 0.
Vec load_first(const float* p, int64_t count) {
  if (count >= LANES) return load(p);
  Vec v{};
  for (int64_t i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
void store_first(float* p, Vec v, int64_t count) {
  if (count == LANES)
    std::memcpy(p, &v, sizeof v);
  else
    std::memcpy(p, &v, 4 * count);
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

/// log(1 + e^x) = max(x, 0) + log(1 + e), e = e^-|x|; log(1 + e) / e is a polynomial on [0, 1].
Vec softplus(Vec x) {
  const Vec positive = x > 0.0f ? x : Vec{};
  const Vec e = exp2((x - 2.0f * positive) * kLog2e);
  Vec p = e * 0.0053648222f - 0.030065784f;
  p = p * e + 0.079204522f;
  p = p * e - 0.13753802f;
  p = p * e + 0.19153655f;
  p = p * e - 0.24857163f;
  p = p * e + 0.33321324f;
  p = p * e - 0.49999648f;
  p = p * e + 1.0f;
  return p * e + positive;
}

Vec silu(Vec x) { return x / (1.0f + exp2(x * -kLog2e)); }

}  // namespace

extern "C" void scan(const float* u, const float* delta, const float* A, const float* B,
                     const float* C, const float* D, const float* z, const float* delta_bias,
                     float* out, int64_t dim, int64_t state, int64_t len, bool delta_softplus,
                     const ks_group* group) {
  const int64_t d = group->id[0], b = group->id[1];
  const int64_t row = (b * dim + d) * len;
  float* dt = static_cast<float*>(group->memory);  // whole vectors
  float* du = dt + (len + LANES - 1) / LANES * LANES;
  for (int64_t t = 0; t < len; t += LANES) {
    const int64_t count = std::min<int64_t>(LANES, len - t);
    const Vec ut = load_first(u + row + t, count);
    Vec x = load_first(delta + row + t, count) + (delta_bias ? delta_bias[d] : 0.0f);
    if (delta_softplus) x = softplus(x);
    const Vec xu = x * ut, y = ut * (D ? D[d] : 0.0f);
    std::memcpy(dt + t, &x, sizeof x);
    std::memcpy(du + t, &xu, sizeof xu);
    store_first(out + row + t, y, count);
  }
  for (int64_t n = 0; n < state; ++n) {
    const float a = A[d * state + n] * kLog2e;
    const float* Bn = B + (b * state + n) * len;
    const float* Cn = C + (b * state + n) * len;
    float h = 0.0f;
    for (int64_t t0 = 0; t0 < len; t0 += LANES) {
      const Vec decay = exp2(load(dt + t0) * a);
      const int64_t steps = std::min<int64_t>(LANES, len - t0);
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = t0 + i;
        h = decay[i] * h + du[t] * Bn[t];
        out[row + t] += Cn[t] * h;
      }
    }
  }
  for (int64_t t = 0; z && t < len; t += LANES) {
    const int64_t count = std::min<int64_t>(LANES, len - t);
    const Vec y = load_first(out + row + t, count) * silu(load_first(z + row + t, count));
    store_first(out + row + t, y, count);
  }
}
