// A state in each lane: a step of LANES states of one channel is one vector operation of each kind.
// B and C are transposed once for all channels, so that a step's values are whole vectors; the sum
// over states is a sum over lanes. `memory` holds A * log2(e) and the states, whole vectors each.
#include <algorithm>
#include <cstring>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

constexpr int64_t kSteps = 4 * LANES;  // a tile; its sums stay in L1
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

float sum(Vec v) {
  float lane[LANES];
  std::memcpy(lane, &v, sizeof v);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

}  // namespace

/// bc[b][t] = B[b][.][t], C[b][.][t], each filled up with 0 to `padded` states, whole vectors. A
/// group does kSteps steps.
extern "C" void transpose_bc(const float* B, const float* C, float* bc, int64_t state,
                             int64_t padded, int64_t len, const ks_group* group) {
  const int64_t t0 = group->id[0] * kSteps, b = group->id[1];
  const int64_t steps = std::min(kSteps, len - t0);
  const float *from_b = B + b * state * len + t0, *from_c = C + b * state * len + t0;
  float* to = bc + (b * len + t0) * 2 * padded;
  for (int64_t n = 0; n < padded; ++n) {
    for (int64_t t = 0; t < steps; ++t) {
      to[t * 2 * padded + n] = n < state ? from_b[n * len + t] : 0.0f;
      to[t * 2 * padded + padded + n] = n < state ? from_c[n * len + t] : 0.0f;
    }
  }
}

extern "C" void scan(const float* u, const float* delta, const float* A, const float* bc,
                     const float* D, const float* z, const float* delta_bias, float* out,
                     int64_t dim, int64_t state, int64_t padded, int64_t len, bool delta_softplus,
                     const ks_group* group) {
  const int64_t d = group->id[0], b = group->id[1], row = (b * dim + d) * len;
  float* a = static_cast<float*>(group->memory);
  float* h = a + padded;
  for (int64_t n = 0; n < padded; ++n) {
    a[n] = n < state ? A[d * state + n] * kLog2e : 0.0f;
    h[n] = 0.0f;
  }
  const float bias = delta_bias ? delta_bias[d] : 0.0f, skip = D ? D[d] : 0.0f;

  for (int64_t t0 = 0; t0 < len; t0 += kSteps) {
    const int64_t steps = std::min(kSteps, len - t0);
    float dt[kSteps], du[kSteps], y[kSteps];
    for (int64_t t = 0; t < steps; t += LANES) {
      const Vec v = load_first(u + row + t0 + t, steps - t);
      Vec x = load_first(delta + row + t0 + t, steps - t) + bias;
      if (delta_softplus) x = softplus(x);
      const Vec xv = x * v, skipped = skip * v;
      std::memcpy(dt + t, &x, sizeof x);
      std::memcpy(du + t, &xv, sizeof xv);
      std::memcpy(y + t, &skipped, sizeof skipped);
    }
    for (int64_t n = 0; n < padded; n += LANES) {
      const Vec decay = load(a + n);
      Vec s = load(h + n);
      const float* bct = bc + (b * len + t0) * 2 * padded + n;
      for (int64_t t = 0; t < steps; ++t, bct += 2 * padded) {
        s = exp2(dt[t] * decay) * s + du[t] * load(bct);
        y[t] += sum(s * load(bct + padded));
      }
      std::memcpy(h + n, &s, sizeof s);
    }
    for (int64_t t = 0; t < steps; t += LANES) {
      const int64_t count = std::min<int64_t>(LANES, steps - t);
      Vec out_t = load(y + t);
      if (z) out_t *= silu(load_first(z + row + t0 + t, count));
      store_first(out + row + t0 + t, out_t, count);
    }
  }
}
