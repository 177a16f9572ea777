// Attention the classical way: keys, and elements of v, in the lanes. A first launch packs k of
// each head into panels of kPanel keys, [panel][D][kPanel], and v into rows of whole vectors, both
// as floats, so that the register tiles of the second read vectors of them and broadcast elements
// of q and of the weights. Scores are [query][key] here: softmax needs a maximum and a sum across
// lanes.
#include <algorithm>
#include <cmath>

namespace {

constexpr int kPanel = VECTORS * LANES;
constexpr float kLog2e = 1.44269504f;
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

/// 2^x for x <= 0, to 2e-7; 2^-126 for what is below -126. Adding 1.5 * 2^23 rounds x and leaves
/// its integer in the low bits, which go into the exponent; a minimax polynomial does the rest,
/// which lies in [-0.5, 0.5].
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

template <class Op>
float reduce(Vec x, Op op) {
  float lane[LANES];
  store(lane, x);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = op(lane[i], lane[i + half]);
  return lane[0];
}

/// result[r][v] = sum over n of a[r][n] * x[n][v] for ROWS rows and V vectors; with `fix`,
/// fix[r] * result[r] is added. a_step, x_step, result_step: from row to row.
template <int V>
INLINE void tile(const float* a, int64_t a_step, const float* x, int64_t x_step, int64_t n,
                 const float* fix, float* result, int64_t result_step) {
  Vec sum[ROWS][V];
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < V; ++v)
      sum[r][v] = fix ? fix[r] * load(result + r * result_step + v * LANES) : Vec{};
  for (int64_t i = 0; i < n; ++i) {
    Vec y[V];
    for (int v = 0; v < V; ++v) y[v] = load(x + i * x_step + v * LANES);
    for (int r = 0; r < ROWS; ++r) {
      const Vec e = all(a[r * a_step + i]);
      for (int v = 0; v < V; ++v) sum[r][v] += e * y[v];
    }
  }
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < V; ++v) store(result + r * result_step + v * LANES, sum[r][v]);
}
/// o = fix o + p v for ROWS queries and min(vectors, V) vectors of elements.
template <int V>
void value_tile(int64_t vectors, const float* p, const float* v, int64_t width, int64_t keys,
                const float* fix, float* o) {
  if (vectors >= V) return tile<V>(p, BK, v, width, keys, fix, o, width);
  if constexpr (V > 1) value_tile<V - 1>(vectors, p, v, width, keys, fix, o);
}

/// Running softmax of one query.
struct Softmax {
  float max = -INFINITY, sum = 0;

  /// `keys` scores, of which the query sees the first `seen`, become weights. Returns the factor
  /// for what was summed with earlier weights. p has room for whole panels.
  float add(float* p, int64_t seen, int64_t keys) {
    const int64_t end = (keys + LANES - 1) / LANES * LANES;
    for (int64_t j = std::max<int64_t>(seen, 0); j < end; ++j) p[j] = -INFINITY;
    Vec top = all(max);
    for (int64_t j = 0; j < end; j += LANES) top = larger(load(p + j), top);
    const float before = max;
    max = reduce(top, [](float a, float b) { return std::max(a, b); });
    Vec total{};
    for (int64_t j = 0; j < end; j += LANES) {
      const Vec e = exp2(load(p + j) - max);
      store(p + j, e);
      total += e;
    }
    const float fix = std::exp2(before - max);
    sum = sum * fix + reduce(total, [](float a, float b) { return a + b; });
    return fix;
  }
};

}  // namespace

/// One panel of keys and the rows of v with them; zeros past the last key and past D.
extern "C" void pack(const T* k, const T* v, float* k_packed, float* v_packed, int64_t Lk,
                     int64_t D, int64_t width, const ks_group* group) {
  const int64_t panel = group->id[0], head = group->id[1], first = panel * kPanel;
  const int64_t keys = std::min<int64_t>(kPanel, Lk - first);
  k += (head * Lk + first) * D;
  v += (head * Lk + first) * D;
  k_packed += (head * group->count[0] + panel) * D * kPanel;
  v_packed += (head * Lk + first) * width;
  for (int64_t d = 0; d < D; ++d)
    for (int64_t j = 0; j < kPanel; ++j)
      k_packed[d * kPanel + j] = j < keys ? float(k[j * D + d]) : 0;
  for (int64_t j = 0; j < keys; ++j)
    for (int64_t d = 0; d < width; ++d) v_packed[j * width + d] = d < D ? float(v[j * D + d]) : 0;
}

/// BQ queries.
extern "C" void attention(const T* q, const float* k, const float* v, T* out, int64_t Lq,
                          int64_t Lk, int64_t D, int64_t width, int64_t heads_per_kv, bool causal,
                          float scale, const ks_group* group) {
  const int64_t first = (group->count[0] - 1 - group->id[0]) * BQ, head = group->id[1];
  const int64_t count = std::min<int64_t>(BQ, Lq - first);
  const int64_t panels = (Lk + kPanel - 1) / kPanel;
  q += (head * Lq + first) * D;
  out += (head * Lq + first) * D;
  k += head / heads_per_kv * panels * D * kPanel;
  v += head / heads_per_kv * Lk * width;
  float* query = static_cast<float*>(group->memory);  // [BQ][width]
  float* o = query + BQ * width;                      // [BQ][width]
  float* p = o + BQ * width;                          // [BQ][BK]

  const auto row = [&](int64_t r) {
    return std::min(r, count - 1);
  };  // those past the last repeat it
  const auto seen = [&](int64_t r) { return causal ? first + row(r) + Lk - Lq + 1 : Lk; };
  for (int64_t r = 0; r < BQ; ++r)
    for (int64_t d = 0; d < D; ++d)
      query[r * width + d] = float(q[row(r) * D + d]) * (scale * kLog2e);
  std::fill_n(o, BQ * width, 0.0f);

  Softmax softmax[BQ];
  const int64_t end = seen(BQ - 1);
  for (int64_t key = 0; key < end; key += BK) {
    const int64_t keys = std::min<int64_t>(BK, end - key);
    for (int64_t j = 0; j < keys; j += kPanel)
      for (int r = 0; r < BQ; r += ROWS)
        tile<VECTORS>(query + r * width, width, k + (key + j) * D, kPanel, D, nullptr,
                      p + r * BK + j, BK);
    float fix[BQ];
    for (int r = 0; r < BQ; ++r) fix[r] = softmax[r].add(p + r * BK, seen(r) - key, keys);
    for (int64_t d = 0; d < width; d += kPanel)
      for (int r = 0; r < BQ; r += ROWS)
        value_tile<VECTORS>((width - d) / LANES, p + r * BK, v + key * width + d, width, keys,
                            fix + r, o + r * width + d);
  }

  for (int64_t r = 0; r < count; ++r)
    for (int64_t d = 0; d < D; ++d) out[r * D + d] = o[r * width + d] / softmax[r].sum;
}
