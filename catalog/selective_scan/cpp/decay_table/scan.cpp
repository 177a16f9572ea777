// A state in each lane, and no exponential a step: a channel's decays depend on its step size
// alone, so each channel tabulates 2^(a dt) and its first two derivatives at the middle of cells of
// step sizes; a step looks up a row and adds two Taylor terms. Two channels run at once, which
// hides the latency of the recurrence; their sums over states are taken together, C is stored by
// halves, each twice, for that. Where step sizes are negative or spread too far for a table, decays
// are computed. TABLE at 0 leaves it out. SCALEF: AVX-512's instructions for 2^x. STREAM: write
// whole lines past the caches.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
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

constexpr int64_t kSteps = 4 * LANES;  // a tile
constexpr int64_t kBlock = LANES / 2;  // steps whose sums over states are taken together
constexpr int kCellBits = 19;          // of a float's bits, below a cell: 16 cells an octave
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
void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }
void store_first(float* p, Vec v, int64_t count) {
#if STREAM && HAS_AVX512
  if (count == LANES && reinterpret_cast<uintptr_t>(p) % sizeof v == 0)
    return _mm512_stream_ps(p, (__m512)v);
#elif STREAM && defined(__AVX__) && LANES == 8
  if (count == LANES && reinterpret_cast<uintptr_t>(p) % sizeof v == 0)
    return _mm256_stream_ps(p, (__m256)v);
#endif
  if (count == LANES)
    store(p, v);
  else
    std::memcpy(p, &v, 4 * count);
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

template <int... I>
Vec even(Vec a, Vec b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <int... I>
Vec odd(Vec a, Vec b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}
template <int... I>
Vec low_halves(Vec a, Vec b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I < LANES / 2 ? I : I + LANES / 2)...);
}
template <int... I>
Vec high_halves(Vec a, Vec b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I < LANES / 2 ? I + LANES / 2 : I + LANES)...);
}
constexpr std::make_integer_sequence<int, LANES> kLanes{};

/// Lane 2 i + k of the result = the sum of half k of rows[i].
Vec sums(Vec (&rows)[kBlock]) {
#pragma GCC unroll 4
  for (int count = kBlock / 2; count > 0; count /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      const Vec a = rows[2 * i], b = rows[2 * i + 1];
      rows[i] = even(a, b, kLanes) + odd(a, b, kLanes);
    }
  }
  return rows[0];
}

float from_bits(int32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
int32_t to_bits(float f) {
  int32_t bits;
  std::memcpy(&bits, &f, sizeof f);
  return bits;
}

/// Cells of step sizes, told by the top bits of dt + origin: of equal width up to the origin, of
/// equal relative width beyond.
struct Grid {
  float origin;
  int32_t first;  // of cells, by those bits
  int64_t rows;   // 0: no table
};

struct Channel {
  const float *u, *z;
  float* out;
  float skip;
  float *dt, *a, *h, *table;  // [len], [padded], [padded], [rows][3][padded]
  Grid grid;
};

/// dt of all steps. Returns the least and the largest; the least is -1 if one is no number, since
/// that belongs to no cell.
std::pair<float, float> step_sizes(const float* delta, float bias, bool delta_softplus, int64_t len,
                                   float* dt) {
  Vec least = Vec{} + std::numeric_limits<float>::max(), most = -least, zero{};
  for (int64_t t = 0; t < len; t += LANES) {
    Vec x = load_first(delta + t, len - t) + bias;
    if (delta_softplus) x = softplus(x);
    store(dt + t, x);
    for (int64_t i = len - t; i < LANES; ++i) x[i] = x[0];
    least = x < least ? x : least;
    most = x > most ? x : most;
    zero += x * 0.0f;
  }
  for (int i = 1; i < LANES; ++i) {
    least[0] = std::min(least[0], least[i]);
    most[0] = std::max(most[0], most[i]);
    zero[0] += zero[i];
  }
  return {zero[0] == 0.0f ? least[0] : -1.0f, most[0]};
}

/// The origin is where the fastest state decays by a quarter of 1/e: below it cells of 1/16 of that
/// do, above it the error falls with the decay itself. Third-order terms are folded into the first
/// derivative (Chebyshev); what is left is at most 2.1e-6 of 1 - decay, down to where floats end.
void make_table(Channel& c, int64_t padded, std::pair<float, float> range, int64_t max_rows) {
  float fastest = 1e-30f;
  for (int64_t n = 0; n < padded; ++n) fastest = std::max(fastest, std::abs(c.a[n]));
  const float origin = 0.25f / fastest;
  const int32_t first = to_bits(origin) >> kCellBits;
  const int64_t rows = (to_bits(range.second + origin) >> kCellBits) - first + 1;
  c.grid = {origin, first, TABLE && range.first >= 0 && rows <= max_rows ? rows : 0};
  float* to = c.table;
  for (int64_t k = 0; k < c.grid.rows; ++k, to += 3 * padded) {
    const int32_t bits = (first + k) << kCellBits;
    const float middle = from_bits(bits + (1 << (kCellBits - 1))), half = middle - from_bits(bits);
    for (int64_t n = 0; n < padded; n += LANES) {
      const Vec rate = load(c.a + n) * 0.69314718f;
      const Vec decay = exp2(load(c.a + n) * (middle - origin));
      store(to + n, decay);
      store(to + padded + n, decay * rate * (1.0f + rate * rate * (half * half / 8)));
      store(to + 2 * padded + n, decay * rate * rate * 0.5f);
    }
  }
}

/// What the recurrence needs of two channels: distance from the middle of the cell (without a
/// table: dt), dt u, where the table's row is, and sums over states, [step][channel].
struct Tile {
  float w[2][kSteps], du[2][kSteps], y[2 * kSteps];
  int32_t row[2][kSteps];
};

void read_tile(const Channel (&c)[2], int64_t t0, int64_t steps, int64_t padded, bool tables,
               Tile& tile) {
  for (int k = 0; k < 2; ++k) {
    const Grid& g = c[k].grid;
    for (int64_t t = 0; t < steps; t += LANES) {
      const Vec dt = load(c[k].dt + t0 + t);
      const Int cell = (Int)(dt + g.origin) >> kCellBits;
      const Vec middle = (Vec)((cell << kCellBits) + (1 << (kCellBits - 1))) - g.origin;
      const Int row = (cell - g.first) * static_cast<int32_t>(3 * padded);
      std::memcpy(tile.row[k] + t, &row, sizeof row);
      store(tile.w[k] + t, tables ? dt - middle : dt);
      store(tile.du[k] + t, dt * load_first(c[k].u + t0 + t, steps - t));
    }
  }
  for (int64_t t = 0; t < 2 * kSteps; t += LANES) store(tile.y + t, Vec{});
}

/// LANES states from state n on of both channels over a tile. `bc`: of each step B, [padded], then
/// C, [padded / LANES][low half, low half, high half, high half].
template <bool TABLES>
void advance(const Channel (&c)[2], int64_t n, const float* bc, int64_t padded, Tile& tile,
             int64_t steps) {
  Vec s[2] = {load(c[0].h + n), load(c[1].h + n)};
  const Vec a[2] = {load(c[0].a + n), load(c[1].a + n)};
  for (int64_t t = 0; t < steps; t += kBlock) {
    Vec rows[kBlock];
    const auto step = [&](int64_t i) __attribute__((always_inline)) {
      for (int k = 0; k < 2; ++k) {
        const float w = tile.w[k][t + i];
        const float* r = c[k].table + tile.row[k][t + i] + n;
        const Vec decay =
            TABLES ? load(r) + w * (load(r + padded) + w * load(r + 2 * padded)) : exp2(w * a[k]);
        s[k] = decay * s[k] + tile.du[k][t + i] * load(bc + n);
      }
      const float* by_half = bc + padded + 2 * n;
      rows[i] = low_halves(s[0], s[1], kLanes) * load(by_half) +
                high_halves(s[0], s[1], kLanes) * load(by_half + LANES);
      bc += 3 * padded;
    };
    if (t + kBlock <= steps) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < kBlock; ++i) step(i);
    } else {
      for (int64_t i = 0; i < kBlock; ++i) rows[i] = Vec{};
      for (int64_t i = 0; t + i < steps; ++i) step(i);
    }
    store(tile.y + 2 * t, load(tile.y + 2 * t) + sums(rows));
  }
  store(c[0].h + n, s[0]);
  store(c[1].h + n, s[1]);
}

void write_tile(const Channel (&c)[2], int64_t channels, int64_t t0, int64_t steps,
                const Tile& tile) {
  for (int64_t t = 0; t < steps; t += LANES) {
    const int64_t count = std::min<int64_t>(LANES, steps - t);
    const Vec low = load(tile.y + 2 * t), high = load(tile.y + 2 * t + LANES);
    for (int k = 0; k < channels; ++k) {
      Vec y = k ? odd(low, high, kLanes) : even(low, high, kLanes);
      y += c[k].skip * load_first(c[k].u + t0 + t, count);
      if (c[k].z) y *= silu(load_first(c[k].z + t0 + t, count));
      store_first(c[k].out + t0 + t, y, count);
    }
  }
}

}  // namespace

/// bc[b][t] as `advance` wants it; `padded` states are whole vectors. A group does kSteps steps.
extern "C" void transpose_bc(const float* B, const float* C, float* bc, int64_t state,
                             int64_t padded, int64_t len, const ks_group* group) {
  const int64_t t0 = group->id[0] * kSteps, b = group->id[1];
  const int64_t steps = std::min(kSteps, len - t0);
  const float *from_b = B + b * state * len + t0, *from_c = C + b * state * len + t0;
  for (int64_t n = 0; n < padded; ++n) {
    const int64_t low = n / kBlock * LANES + n % kBlock;
    float* to = bc + (b * len + t0) * 3 * padded;
    for (int64_t t = 0; t < steps; ++t, to += 3 * padded) {
      to[n] = n < state ? from_b[n * len + t] : 0.0f;
      to[padded + low] = to[padded + low + kBlock] = n < state ? from_c[n * len + t] : 0.0f;
    }
  }
}

extern "C" void scan(const float* u, const float* delta, const float* A, const float* bc,
                     const float* D, const float* z, const float* delta_bias, float* out,
                     int64_t dim, int64_t state, int64_t padded, int64_t len, int64_t max_rows,
                     bool delta_softplus, const ks_group* group) {
  const int64_t d0 = group->id[0] * 2, b = group->id[1];
  float* memory = static_cast<float*>(group->memory);
  Channel c[2];
  for (int k = 0; k < 2; ++k) {
    const int64_t d = std::min(d0 + k, dim - 1), row = (b * dim + d) * len;
    c[k] = {u + row, z ? z + row : nullptr, out + row, D ? D[d] : 0.0f, {}, {}, {}, {}, {}};
    c[k].dt = memory;
    c[k].a = c[k].dt + (len + LANES - 1) / LANES * LANES;
    c[k].h = c[k].a + padded;
    c[k].table = c[k].h + padded;
    memory = c[k].table + max_rows * 3 * padded;
    for (int64_t n = 0; n < padded; ++n) {
      c[k].a[n] = n < state ? A[d * state + n] * kLog2e : 0.0f;
      c[k].h[n] = 0.0f;
    }
    const float bias = delta_bias ? delta_bias[d] : 0.0f;
    make_table(c[k], padded, step_sizes(delta + row, bias, delta_softplus, len, c[k].dt), max_rows);
  }
  const bool tables = c[0].grid.rows > 0 && c[1].grid.rows > 0;
  for (int64_t t0 = 0; t0 < len; t0 += kSteps) {
    const int64_t steps = std::min(kSteps, len - t0);
    const float* bct = bc + (b * len + t0) * 3 * padded;
    Tile tile;
    read_tile(c, t0, steps, padded, tables, tile);
    for (int64_t n = 0; n < padded; n += LANES)
      (tables ? advance<true> : advance<false>)(c, n, bct, padded, tile, steps);
    write_tile(c, std::min<int64_t>(2, dim - d0), t0, steps, tile);
  }
#if STREAM && defined(__x86_64__)
  _mm_sfence();  // orders the stores past the caches before whatever says that the group is done
#endif
}
