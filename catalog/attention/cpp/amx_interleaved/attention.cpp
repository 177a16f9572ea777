#ifdef LANES
// Attention by register tiles, over blocks of BK keys: the weights of a block (p) stay in the first
// cache, however many keys there are. Maximum and sum are kept from block to block; where a block
// raises the maximum, what was summed before is scaled down ("online softmax", Milakov and
// Gimelshein, arXiv 1805.02867).
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
/// products of attention. With `fix`, [kRows], result * fix is added.
/// x: [n][kRows], result: [R][kRows].
template <int R>
INLINE void tile(const T* a, int64_t row_step, int64_t step, const float* x, int64_t n,
                 const float* fix, float* result) {
  Vec sum[R][VECTORS];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < VECTORS; ++v)
      sum[r][v] = fix ? load(result + r * kRows + v * LANES) * load(fix + v * LANES) : Vec{};
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

/// A tile of min(keys, R) keys: p = k qt.
template <int R>
void score_tile(int64_t keys, const T* k, int64_t D, const float* qt, float* p) {
  if (keys >= R) return tile<R>(k, D, 1, qt, D, nullptr, p);
  if constexpr (R > 1) score_tile<R - 1>(keys, k, D, qt, p);
}
/// A tile of min(count, R) elements of each of `keys` rows of v: ot = fix ot + v p.
template <int R>
void value_tile(int64_t count, const T* v, int64_t D, const float* p, int64_t keys,
                const float* fix, float* ot) {
  if (count >= R) return tile<R>(v, 1, D, p, keys, fix, ot);
  if constexpr (R > 1) value_tile<R - 1>(count, v, D, p, keys, fix, ot);
}

/// Running softmax of LANES rows.
struct Softmax {
  Vec max = all(-INFINITY), sum = Vec{};
  Ints seen;  ///< lane l sees the keys before seen[l]

  /// p: [key][kRows], scores of the keys from `key` on, become weights. Returns the factor for what
  /// was summed with the weights of earlier blocks.
  Vec add(float* p, int64_t key, int64_t keys) {
    const Vec before = max;
    for (int64_t j = 0; j < keys; ++j) {
      const Vec s = seen > static_cast<int32_t>(key + j) ? load(p + j * kRows) : all(-INFINITY);
      store(p + j * kRows, s);
      max = larger(s, max);
    }
    const Vec fix = exp2(before - max);
    sum *= fix;
    for (int64_t j = 0; j < keys; ++j) {
      const Vec e = exp2(load(p + j * kRows) - max);
      store(p + j * kRows, e);
      sum += e;
    }
    return fix;
  }
};

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
  float* p = ot + D * kRows;                       // [BK][kRows]

  Softmax softmax[VECTORS];
  for (int r = 0; r < kRows; ++r) {
    const int64_t query = std::min<int64_t>(r, queries - 1);  // rows past the last repeat it
    softmax[r / LANES].seen[r % LANES] =
        static_cast<int32_t>(causal ? first + query + Lk - Lq + 1 : Lk);
    for (int64_t d = 0; d < D; ++d) qt[d * kRows + r] = float(q[query * D + d]) * (scale * kLog2e);
  }
  std::fill_n(ot, D * kRows, 0.0f);

  const int64_t end = softmax[VECTORS - 1].seen[LANES - 1];
  for (int64_t key = 0; key < end; key += BK) {
    const int64_t keys = std::min<int64_t>(BK, end - key);
    for (int64_t j = 0; j < keys; j += KEYS)
      score_tile<KEYS>(keys - j, k + (key + j) * D, D, qt, p + j * kRows);
    float fix[kRows];
    for (int c = 0; c < VECTORS; ++c)
      store(fix + c * LANES, softmax[c].add(p + c * LANES, key, keys));
    for (int64_t d = 0; d < D; d += KEYS)
      value_tile<KEYS>(D - d, v + key * D + d, D, p, keys, fix, ot + d * kRows);
  }

  for (int64_t r = 0; r < queries; ++r)
    for (int64_t d = 0; d < D; ++d)
      out[r * D + d] = ot[d * kRows + r] / softmax[r / LANES].sum[r % LANES];
}
#endif  // LANES
