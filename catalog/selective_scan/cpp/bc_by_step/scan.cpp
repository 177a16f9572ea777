// A channel in each lane, the states in registers over a tile of steps, and B and C transposed once
// for all channels, so that a step finds its values side by side. A pass takes kStates states
// through the tile and adds their share to the sums, which stay in L1. `memory` holds A * log2(e)
// and the states between tiles, [state][LANES] each.
#include <algorithm>
#include <cstring>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

constexpr int64_t kSteps = 4 * LANES;          // a tile; three of its vectors a step stay in L1
constexpr int kStates = LANES == 16 ? 16 : 4;  // states of a pass; they and the constants of exp2
                                               // fill the registers
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

/// A step's size, its size times its input, and its sum over the states, for LANES channels.
struct Tile {
  Vec dt[kSteps], du[kSteps], y[kSteps];
};

/// h = 2^(dt a) h + du B, y += C h over a tile, for N states that stay in registers. `bc`: of each
/// step B, then C, [state].
template <int N>
void advance(const Vec* a, Vec* h, const float* bc, int64_t state, Tile& tile, int64_t steps) {
  Vec s[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) s[n] = h[n];
  const float *b = bc, *c = bc + state;
  for (int64_t t = 0; t < steps; ++t, b += 2 * state, c += 2 * state) {
    Vec y = tile.y[t];
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) {
      s[n] = exp2(tile.dt[t] * a[n]) * s[n] + tile.du[t] * b[n];
      y += s[n] * c[n];
    }
    tile.y[t] = y;
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) h[n] = s[n];
}

}  // namespace

/// bc[b][t] = B[b][.][t], C[b][.][t]; a group does kSteps steps.
extern "C" void transpose_bc(const float* B, const float* C, float* bc, int64_t state, int64_t len,
                             const ks_group* group) {
  const int64_t t0 = group->id[0] * kSteps, b = group->id[1];
  const int64_t steps = std::min(kSteps, len - t0);
  const float *from_b = B + b * state * len + t0, *from_c = C + b * state * len + t0;
  float* to = bc + (b * len + t0) * 2 * state;
  for (int64_t n = 0; n < state; ++n) {
    for (int64_t t = 0; t < steps; ++t) {
      to[t * 2 * state + n] = from_b[n * len + t];
      to[t * 2 * state + state + n] = from_c[n * len + t];
    }
  }
}

extern "C" void scan(const float* u, const float* delta, const float* A, const float* bc,
                     const float* D, const float* z, const float* delta_bias, float* out,
                     int64_t dim, int64_t state, int64_t len, bool delta_softplus,
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

  Tile tile;
  for (int64_t t0 = 0; t0 < len; t0 += kSteps) {
    const int64_t steps = std::min(kSteps, len - t0);
    read_tile(delta + row + t0, len, channels, steps, tile.dt);
    read_tile(u + row + t0, len, channels, steps, tile.du);
    for (int64_t t = 0; t < steps; ++t) {
      const Vec x = tile.dt[t] + bias, v = tile.du[t];
      tile.dt[t] = delta_softplus ? softplus(x) : x;
      tile.du[t] = tile.dt[t] * v;
      tile.y[t] = skip * v;
    }
    const float* bct = bc + (b * len + t0) * 2 * state;
    int64_t n = 0;
    const auto pass = [&]<int N>() {
      for (; n + N <= state; n += N) advance<N>(a + n, h + n, bct + n, state, tile, steps);
    };
    pass.template operator()<kStates>();
    pass.template operator()<kStates / 4>();
    pass.template operator()<1>();
    if (z) {
      read_tile(z + row + t0, len, channels, steps, tile.dt);
      for (int64_t t = 0; t < steps; ++t) tile.y[t] *= silu(tile.dt[t]);
    }
    write_tile(tile.y, len, channels, steps, out + row + t0);
  }
}
