// Attention of ROWS = VECTORS * LANES queries a group, in the lanes, by register tiles: KEYS keys
// (or elements of v) by VECTORS vectors of queries stay in registers over the whole sum. Each
// vector that is loaded serves KEYS multiply-adds, each element that is broadcast VECTORS. All
// scores of the group's queries are kept (p), so softmax is one maximum, one exponential, one sum.
#include <algorithm>
#include <cmath>

namespace {

constexpr int kRows = VECTORS * LANES;
using Vec = float __attribute__((vector_size(4 * LANES)));
using Ints = int32_t __attribute__((vector_size(4 * LANES)));
#define INLINE inline __attribute__((always_inline))

INLINE Vec load(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
INLINE void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }
/// A broadcast: x - 0 is x, where the compiler would have to compute x + 0.
INLINE Vec all(float x) { return x - Vec{}; }
INLINE Vec larger(Vec a, Vec b) { return a > b ? a : b; }

/// 2^x for x <= 0, to 2e-7; 2^-126 for what is below. Adding 1.5 * 2^23 rounds x and leaves its
/// integer in the low bits, which go into the exponent; a minimax polynomial does the rest, which
/// lies in [-0.5, 0.5].
INLINE Vec exp2(Vec x) {
  x = larger(all(-126), x);
  const Vec shifted = x + all(0x1.8p23f);
  const Vec f = x - (shifted - all(0x1.8p23f));
  Vec p = f * 0.0013276472f + 0.00967554133f;
  p = p * f + 0.0555071327f;
  p = p * f + 0.240221197f;
  p = p * f + 0.693146967f;
  p = p * f + 1.00000007f;
  return (Vec)((Ints)p + ((Ints)shifted << 23));
}
constexpr float kLog2e = 1.44269504f;

/// result[r][row] = sum over n of a[r * row_step + n * step] * x[n][row], for R rows of `a`: both
/// products of attention. x: [n][kRows], result: [R][kRows].
template <int R>
void tile(const T* a, int64_t row_step, int64_t step, const float* x, int64_t n, float* result) {
  Vec sum[R][VECTORS];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < VECTORS; ++v) sum[r][v] = Vec{};
  for (int64_t i = 0; i < n; ++i) {
    Vec y[VECTORS];
    for (int v = 0; v < VECTORS; ++v) y[v] = load(x + i * kRows + v * LANES);
    for (int r = 0; r < R; ++r) {
      const Vec e = all(a[r * row_step + i * step]);
      for (int v = 0; v < VECTORS; ++v) sum[r][v] += e * y[v];
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < VECTORS; ++v) store(result + r * kRows + v * LANES, sum[r][v]);
}

/// A tile of min(rows, R) rows.
template <int R>
INLINE void tile_of(int64_t rows, const T* a, int64_t row_step, int64_t step, const float* x,
                    int64_t n, float* result) {
  if (rows >= R) return tile<R>(a, row_step, step, x, n, result);
  if constexpr (R > 1) tile_of<R - 1>(rows, a, row_step, step, x, n, result);
}

/// Softmax down the keys of p: [key][kRows], of LANES rows, without the division by the sum, which
/// is returned. Lane l sees the keys before seen[l], of `end` in all.
Vec softmax(float* p, Ints seen, int64_t end) {
  Vec max = all(-INFINITY);
  for (int64_t j = 0; j < end; ++j) {
    const Vec s = seen > static_cast<int32_t>(j) ? load(p + j * kRows) : all(-INFINITY);
    store(p + j * kRows, s);
    max = larger(s, max);
  }
  Vec sum{};
  for (int64_t j = 0; j < end; ++j) {
    const Vec e = exp2(load(p + j * kRows) - max);
    store(p + j * kRows, e);
    sum += e;
  }
  return sum;
}

}  // namespace

extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads_per_kv, bool causal, float scale,
                          const ks_group* group) {
  const int64_t first = group->id[0] * kRows, head = group->id[1];
  const int64_t queries = std::min<int64_t>(kRows, Lq - first);
  q += (head * Lq + first) * D;
  out += (head * Lq + first) * D;
  k += head / heads_per_kv * Lk * D;
  v += head / heads_per_kv * Lk * D;
  float* qt = static_cast<float*>(group->memory);  // [D][kRows]
  float* ot = qt + D * kRows;                      // [D][kRows]
  float* p = ot + D * kRows;                       // [Lk][kRows]

  Ints seen[VECTORS];
  for (int r = 0; r < kRows; ++r) {
    const int64_t query = std::min<int64_t>(r, queries - 1);  // rows past the last repeat it
    seen[r / LANES][r % LANES] = static_cast<int32_t>(causal ? first + query + Lk - Lq + 1 : Lk);
    for (int64_t d = 0; d < D; ++d) qt[d * kRows + r] = float(q[query * D + d]) * (scale * kLog2e);
  }
  const int64_t end = seen[VECTORS - 1][LANES - 1];

  for (int64_t j = 0; j < end; j += KEYS)
    tile_of<KEYS>(end - j, k + j * D, D, 1, qt, D, p + j * kRows);
  float sum[kRows];
  for (int c = 0; c < VECTORS; ++c) store(sum + c * LANES, softmax(p + c * LANES, seen[c], end));
  for (int64_t d = 0; d < D; d += KEYS) tile_of<KEYS>(D - d, v + d, 1, D, p, end, ot + d * kRows);

  for (int64_t r = 0; r < queries; ++r)
    for (int64_t d = 0; d < D; ++d) out[r * D + d] = ot[d * kRows + r] / sum[r];
}
