// A channel in each lane, the states in registers over a tile of steps, B and C transposed once for
// all channels, tiles transposed in registers. Where there are too few channels for the cores, time
// is split: the recurrence is affine, so a chunk's end from 0 and the sum of its step sizes tell
// where it ends from anywhere; a first launch finds those, then all chunks run at once. `memory`
// holds A * log2(e) and the states between tiles, [state][LANES] each. SCALEF: AVX-512's
// instructions for 2^x. AHEAD: fetch the next tile while this one is computed. STREAM: write whole
// lines past the caches. VECTOR_SOFTPLUS and REGISTER_TILES at 0 leave those out.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__AVX512DQ__) && LANES == 16
#define HAS_AVX512 1
#else
#define HAS_AVX512 0
#endif

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

constexpr int64_t kSteps = 4 * LANES;          // a tile; three of its vectors a step stay in L1
constexpr int kStates = LANES == 16 ? 16 : 4;  // states of a pass; they and the constants of exp2
                                               // fill the registers
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
#if STREAM && HAS_AVX512
  if (count == LANES && reinterpret_cast<uintptr_t>(p) % sizeof v == 0)
    return _mm512_stream_ps(p, (__m512)v);
#elif STREAM && defined(__AVX__) && LANES == 8
  if (count == LANES && reinterpret_cast<uintptr_t>(p) % sizeof v == 0)
    return _mm256_stream_ps(p, (__m256)v);
#endif
  if (count == LANES)
    std::memcpy(p, &v, sizeof v);
  else
    std::memcpy(p, &v, 4 * count);
}

template <int... I>
void interleave(Vec a, Vec b, Vec* low, Vec* high, std::integer_sequence<int, I...>) {
  *low = __builtin_shufflevector(a, b, (I / 2 + I % 2 * LANES)...);
  *high = __builtin_shufflevector(a, b, (I / 2 + I % 2 * LANES + LANES / 2)...);
}

void transpose_elements(Vec (&rows)[LANES]) {
  for (int i = 0; i < LANES; ++i)
    for (int j = 0; j < i; ++j) {
      const float f = rows[i][j];
      rows[i][j] = rows[j][i];
      rows[j][i] = f;
    }
}

/// Each round rotates the bits of (row, column) by one; log2(LANES) rounds exchange the two.
void transpose(Vec (&rows)[LANES]) {
  if (!REGISTER_TILES) return transpose_elements(rows);
#pragma GCC unroll 4
  for (int round = 1; round < LANES; round *= 2) {
    Vec next[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES / 2; ++i)
      interleave(rows[i], rows[i + LANES / 2], &next[2 * i], &next[2 * i + 1],
                 std::make_integer_sequence<int, LANES>());
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) rows[i] = next[i];
  }
}

/// tile[column][row] = p[row * stride + column]. Rows beyond `rows` repeat the last, columns beyond
/// `columns` are 0.
void load_transposed(Vec (&tile)[LANES], const float* p, int64_t stride, int64_t rows,
                     int64_t columns) {
  for (int64_t i = 0; i < LANES; ++i)
    tile[i] = load_first(p + std::min(i, rows - 1) * stride, columns);
  transpose(tile);
}

/// 2^x, relative error 9e-8 and an ulp of rounding; what is beyond 2^-125 and 2^127 stays there.
[[maybe_unused]] Vec exp2_portable(Vec x) {
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

/// The same without bounds: scalef multiplies by 2^floor(x), so the polynomial is on [0, 1). It is
/// exact at both ends, since an x just below 0 has to give just below 1.
Vec exp2(Vec x) {
#if SCALEF && HAS_AVX512
  const Vec f = (Vec)_mm512_reduce_ps((__m512)x, 0x01);  // x - floor(x)
  Vec p = f * 0.0019098963f + 0.0089213932f;
  p = p * f + 0.055871829f;
  p = p * f + 0.24014381f;
  p = p * f + 0.69315308f;
  p = p * f + 1.0f;
  return (Vec)_mm512_scalef_ps((__m512)p, (__m512)x);
#else
  return exp2_portable(x);
#endif
}

/// log(1 + e^x) = max(x, 0) + log(1 + e), e = e^-|x|; log(1 + e) / e is a polynomial on [0, 1].
Vec softplus(Vec x) {
  if (!VECTOR_SOFTPLUS) {
    for (int i = 0; i < LANES; ++i) x[i] = x[i] > 20.0f ? x[i] : std::log1p(std::exp(x[i]));
    return x;
  }
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

/// What a group reads and writes: rows of LANES channels, `len` apart; `rows` of them are there.
struct Channels {
  const float *u, *delta, *z;
  float* out;
  Vec bias, skip;
  int64_t len, rows;
  bool delta_softplus;

  /// One line of each row: of the inputs of the tile after the one at `t0`, of its own output. Row
  /// and line are told by `step`, which counts through the tile.
  void fetch(int64_t t0, int64_t step) const {
    const int64_t at = step % LANES * len + t0 + step / LANES * LANES;
    if (t0 + kSteps < len) {
      __builtin_prefetch(delta + at + kSteps, 0, 2);
      __builtin_prefetch(u + at + kSteps, 0, 2);
      if (z) __builtin_prefetch(z + at + kSteps, 0, 2);
    }
    if (!STREAM) __builtin_prefetch(out + at, 1, 2);
  }
};

/// A step's size, its size times its input, and its sum over the states, for LANES channels.
struct Tile {
  Vec dt[kSteps], du[kSteps], y[kSteps];
};

void read_tile(const Channels& c, int64_t t0, int64_t steps, Tile& tile) {
  for (int64_t t = 0; t < steps; t += LANES) {
    Vec x[LANES], u[LANES];
    load_transposed(x, c.delta + t0 + t, c.len, c.rows, steps - t);
    load_transposed(u, c.u + t0 + t, c.len, c.rows, steps - t);
    for (int i = 0; i < LANES; ++i) {
      x[i] += c.bias;
      if (c.delta_softplus) x[i] = softplus(x[i]);
      tile.dt[t + i] = x[i];
      tile.du[t + i] = x[i] * u[i];
      tile.y[t + i] = c.skip * u[i];
    }
  }
}

/// h = 2^(dt a) h + du B and, if SUMS, y += C h over a tile, for N states that stay in registers.
/// `bc`: of each step B, then C, [state]. Fetches for `ahead`, if any, a little at each step.
template <int N, bool SUMS>
void advance(const Vec* a, Vec* h, const float* bc, int64_t state, Tile& tile, int64_t steps,
             const Channels* ahead, int64_t t0) {
  Vec s[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) s[n] = h[n];
  const float *b = bc, *c = bc + state;
  for (int64_t t = 0; t < steps; ++t, b += 2 * state, c += 2 * state) {
    if (ahead) ahead->fetch(t0, t);
    Vec y = tile.y[t];
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) {
      s[n] = exp2(tile.dt[t] * a[n]) * s[n] + tile.du[t] * b[n];
      if (SUMS) y += s[n] * c[n];
    }
    if (SUMS) tile.y[t] = y;
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) h[n] = s[n];
}

template <bool SUMS>
void advance_all(const Vec* a, Vec* h, const float* bc, int64_t state, Tile& tile, int64_t steps,
                 const Channels* ahead, int64_t t0) {
  int64_t n = 0;
  const auto pass = [&]<int N>() {
    for (; n + N <= state; n += N, ahead = nullptr)
      advance<N, SUMS>(a + n, h + n, bc + n, state, tile, steps, ahead, t0);
  };
  pass.template operator()<kStates>();
  pass.template operator()<kStates / 4>();
  pass.template operator()<1>();
}

void write_tile(const Channels& c, int64_t t0, int64_t steps, const Tile& tile) {
  for (int64_t t = 0; t < steps; t += LANES) {
    Vec y[LANES];
    for (int i = 0; i < LANES; ++i) y[i] = tile.y[t + i];
    transpose(y);
    const int64_t count = std::min<int64_t>(LANES, steps - t);
    for (int64_t i = 0; i < c.rows; ++i) {
      const int64_t at = i * c.len + t0 + t;
      if (c.z) y[i] *= silu(load_first(c.z + at, count));
      store_first(c.out + at, y[i], count);
    }
  }
}

/// The channels of a group; a [state] = A * log2(e).
Channels channels_of(const float* u, const float* delta, const float* A, const float* D,
                     const float* z, const float* delta_bias, float* out, int64_t dim,
                     int64_t state, int64_t len, bool delta_softplus, const ks_group* group,
                     Vec* a) {
  const int64_t d0 = group->id[0] * LANES, row = (group->id[1] * dim + d0) * len;
  Channels c{u + row,
             delta + row,
             z ? z + row : nullptr,
             out + row,
             {},
             {},
             len,
             std::min<int64_t>(LANES, dim - d0),
             delta_softplus};
  for (int64_t i = 0; i < LANES; ++i) {
    const int64_t d = d0 + std::min(i, c.rows - 1);
    for (int64_t n = 0; n < state; ++n) a[n][i] = A[d * state + n] * kLog2e;
    if (delta_bias) c.bias[i] = delta_bias[d];
    if (D) c.skip[i] = D[d];
  }
  return c;
}

/// Where in `ends` chunk `k` of the group's channels keeps its end, [state], and after it the sum
/// of its step sizes; in vectors.
int64_t end_of(int64_t k, int64_t state, const ks_group* group) {
  const int64_t groups = group->count[0];
  return ((k * group->count[1] + group->id[1]) * groups + group->id[0]) * (state + 1);
}

}  // namespace

/// bc[b][t] = B[b][.][t], C[b][.][t]; a group does LANES steps.
extern "C" void transpose_bc(const float* B, const float* C, float* bc, int64_t state, int64_t len,
                             const ks_group* group) {
  const int64_t t0 = group->id[0] * LANES, b = group->id[1];
  const int64_t steps = std::min<int64_t>(LANES, len - t0);
  for (int half = 0; half < 2; ++half) {
    const float* in = (half ? C : B) + b * state * len + t0;
    float* to = bc + (b * len + t0) * 2 * state + half * state;
    for (int64_t n = 0; n < state; n += LANES) {
      const int64_t count = std::min<int64_t>(LANES, state - n);
      Vec tile[LANES];
      load_transposed(tile, in + n * len, len, count, steps);
      for (int64_t t = 0; t < steps; ++t) store_first(to + t * 2 * state + n, tile[t], count);
    }
  }
}

/// Where each chunk but the last ends if it starts from 0.
extern "C" void chunk_ends(const float* u, const float* delta, const float* A, const float* bc,
                           const float* delta_bias, float* ends, int64_t dim, int64_t state,
                           int64_t len, int64_t chunk, bool delta_softplus, const ks_group* group) {
  Vec* a = static_cast<Vec*>(group->memory);
  const Channels c = channels_of(u, delta, A, nullptr, nullptr, delta_bias, nullptr, dim, state,
                                 len, delta_softplus, group, a);
  const int64_t first = group->id[2] * chunk;
  Vec* h = reinterpret_cast<Vec*>(ends) + end_of(group->id[2], state, group);
  for (int64_t n = 0; n <= state; ++n) h[n] = Vec{};
  Tile tile;
  for (int64_t t0 = first; t0 < first + chunk; t0 += kSteps) {
    read_tile(c, t0, kSteps, tile);
    for (int64_t t = 0; t < kSteps; ++t) h[state] += tile.dt[t];
    advance_all<false>(a, h, bc + (group->id[1] * len + t0) * 2 * state, state, tile, kSteps,
                       nullptr, t0);
  }
}

/// The scan of a chunk. It starts from the ends of those before: decays multiply to 2^(a sum dt).
extern "C" void scan(const float* u, const float* delta, const float* A, const float* bc,
                     const float* D, const float* z, const float* delta_bias, const float* ends,
                     float* out, int64_t dim, int64_t state, int64_t len, int64_t chunk,
                     bool delta_softplus, const ks_group* group) {
  Vec* a = static_cast<Vec*>(group->memory);
  Vec* h = a + state;
  const Channels c =
      channels_of(u, delta, A, D, z, delta_bias, out, dim, state, len, delta_softplus, group, a);
  for (int64_t n = 0; n < state; ++n) h[n] = Vec{};
  for (int64_t k = 0; k < group->id[2]; ++k) {
    const Vec* end = reinterpret_cast<const Vec*>(ends) + end_of(k, state, group);
    for (int64_t n = 0; n < state; ++n) h[n] = exp2(end[state] * a[n]) * h[n] + end[n];
  }
  Tile tile;
  const int64_t first = group->id[2] * chunk, last = std::min(len, first + chunk);
  for (int64_t t0 = first; t0 < last; t0 += kSteps) {
    const int64_t steps = std::min(kSteps, last - t0);
    read_tile(c, t0, steps, tile);
    advance_all<true>(a, h, bc + (group->id[1] * len + t0) * 2 * state, state, tile, steps,
                      AHEAD ? &c : nullptr, t0);
    write_tile(c, t0, steps, tile);
  }
#if STREAM && defined(__x86_64__)
  _mm_sfence();  // orders the stores past the caches before whatever says that the group is done
#endif
}
