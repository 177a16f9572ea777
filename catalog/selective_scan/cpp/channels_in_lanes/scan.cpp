// A channel in each lane: state n of LANES channels is one vector, so neither the recurrence nor
// the sum over states moves data between lanes, and B and C are the same for all lanes. Inputs and
// outputs pass through tiles of kSteps steps x LANES channels. `memory` holds A * log2(e) and the
// states, [state][LANES] each.
#include <algorithm>
#include <cstring>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

constexpr int64_t kSteps = 4 * LANES;  // a tile; three of its vectors a step stay in L1
constexpr float kLog2e = 1.44269504f;

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

/// tile[t][i] = p[i * len + t] for t < steps; lanes beyond `channels` repeat the last one.
void read_tile(const float* p, int64_t len, int64_t channels, int64_t steps, Vec* tile) {
  for (int64_t i = 0; i < LANES; ++i)
    for (int64_t t = 0; t < steps; ++t) tile[t][i] = p[std::min(i, channels - 1) * len + t];
}

void write_tile(const Vec* tile, int64_t len, int64_t channels, int64_t steps, float* p) {
  for (int64_t i = 0; i < channels; ++i)
    for (int64_t t = 0; t < steps; ++t) p[i * len + t] = tile[t][i];
}

}  // namespace

extern "C" void scan(const float* u, const float* delta, const float* A, const float* B,
                     const float* C, const float* D, const float* z, const float* delta_bias,
                     float* out, int64_t dim, int64_t state, int64_t len, bool delta_softplus,
                     const ks_group* group) {
  const int64_t d0 = group->id[0] * LANES, b = group->id[1], row = (b * dim + d0) * len;
  const int64_t channels = std::min<int64_t>(LANES, dim - d0);
  Vec* a = static_cast<Vec*>(group->memory);
  Vec* h = a + state;
  Vec bias{}, skip{};
  for (int64_t i = 0; i < LANES; ++i) {
    const int64_t d = d0 + std::min(i, channels - 1);
    for (int64_t n = 0; n < state; ++n) a[n][i] = A[d * state + n] * kLog2e;
    if (delta_bias) bias[i] = delta_bias[d];
    if (D) skip[i] = D[d];
  }
  for (int64_t n = 0; n < state; ++n) h[n] = Vec{};

  for (int64_t t0 = 0; t0 < len; t0 += kSteps) {
    const int64_t steps = std::min(kSteps, len - t0);
    const float* Bt = B + b * state * len + t0;
    const float* Ct = C + b * state * len + t0;
    Vec x[kSteps], v[kSteps], gate[kSteps];
    read_tile(delta + row + t0, len, channels, steps, x);
    read_tile(u + row + t0, len, channels, steps, v);
    if (z) read_tile(z + row + t0, len, channels, steps, gate);
    for (int64_t t = 0; t < steps; ++t) {
      const Vec dt = delta_softplus ? softplus(x[t] + bias) : x[t] + bias;
      const Vec du = dt * v[t];
      Vec y = skip * v[t];
      for (int64_t n = 0; n < state; ++n) {
        h[n] = exp2(dt * a[n]) * h[n] + du * Bt[n * len + t];
        y += h[n] * Ct[n * len + t];
      }
      x[t] = z ? y * silu(gate[t]) : y;
    }
    write_tile(x, len, channels, steps, out + row + t0);
  }
}
