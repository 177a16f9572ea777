// Attention of QUERIES queries a group: a tile of dot products, QUERIES queries by four keys, reads
// each vector of k once for all its queries. Each dot product still ends in a sum across lanes.
#include <algorithm>
#include <cmath>
#include <type_traits>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
constexpr int kKeys = 4;
#define INLINE inline __attribute__((always_inline))

INLINE Vec load(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
INLINE void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }

/// The first n elements at p, then zeros; reads nothing past p[n - 1].
template <class S>
INLINE Vec load(const S* p, int64_t n) {
  if constexpr (std::is_same_v<S, float>)
    if (n >= LANES) return load(p);
  float x[LANES] = {};
  for (int64_t i = 0; i < std::min<int64_t>(n, LANES); ++i) x[i] = p[i];
  return load(x);
}

float sum_of(Vec x) {
  float lane[LANES];
  store(lane, x);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

/// Scores of the first `keys` of kKeys keys, score[query * stride + key].
/// q: rows of `width` floats, D and zeros up to a whole vector.
void score_tile(const float* q, int64_t width, const T* k, int64_t D, int64_t keys, float scale,
                float* score, int64_t stride) {
  const T* row[kKeys];
  for (int j = 0; j < kKeys; ++j) row[j] = k + std::min<int64_t>(j, keys - 1) * D;
  Vec sum[QUERIES][kKeys];
  for (int i = 0; i < QUERIES; ++i)
    for (int j = 0; j < kKeys; ++j) sum[i][j] = Vec{};
  for (int64_t d = 0; d < D; d += LANES) {
    Vec y[kKeys];
    for (int j = 0; j < kKeys; ++j) y[j] = load(row[j] + d, D - d);
    for (int i = 0; i < QUERIES; ++i) {
      const Vec x = load(q + i * width + d);
      for (int j = 0; j < kKeys; ++j) sum[i][j] += x * y[j];
    }
  }
  for (int i = 0; i < QUERIES; ++i)
    for (int j = 0; j < kKeys; ++j)
      if (j < keys) score[i * stride + j] = sum_of(sum[i][j]) * scale;
}

/// score becomes exp(score - max), 0 past `seen`; returns the sum.
float softmax_row(float* score, int64_t seen, int64_t stride) {
  float max = score[0];
  for (int64_t j = 1; j < seen; ++j) max = std::max(max, score[j]);
  float total = 0;
  for (int64_t j = 0; j < seen; ++j) {
    score[j] = std::exp(score[j] - max);
    total += score[j];
  }
  std::fill(score + seen, score + stride, 0.0f);
  return total;
}

}  // namespace

extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads_per_kv, bool causal, float scale,
                          const ks_group* group) {
  const int64_t first = group->id[0] * QUERIES, head = group->id[1];
  const int64_t queries = std::min<int64_t>(QUERIES, Lq - first);
  q += (head * Lq + first) * D;
  out += (head * Lq + first) * D;
  k += head / heads_per_kv * Lk * D;
  v += head / heads_per_kv * Lk * D;
  const int64_t width = (D + LANES - 1) / LANES * LANES;
  float* query = static_cast<float*>(group->memory);
  float* score = query + QUERIES * width;

  // Queries past the last one repeat it.
  const auto row = [&](int i) { return std::min<int64_t>(i, queries - 1); };
  const auto seen = [&](int i) { return causal ? first + row(i) + Lk - Lq + 1 : Lk; };
  for (int i = 0; i < QUERIES; ++i)
    for (int64_t d = 0; d < D; d += LANES)
      store(query + i * width + d, load(q + row(i) * D + d, D - d));

  const int64_t end = seen(QUERIES - 1);
  for (int64_t j = 0; j < end; j += kKeys)
    score_tile(query, width, k + j * D, D, std::min<int64_t>(kKeys, end - j), scale, score + j, Lk);
  float total[QUERIES];
  for (int i = 0; i < QUERIES; ++i) total[i] = softmax_row(score + i * Lk, seen(i), Lk);

  for (int64_t d = 0; d < D; d += LANES) {
    Vec sum[QUERIES];
    for (int i = 0; i < QUERIES; ++i) sum[i] = Vec{};
    for (int64_t j = 0; j < end; ++j) {
      const Vec y = load(v + j * D + d, D - d);
      for (int i = 0; i < QUERIES; ++i) sum[i] += score[i * Lk + j] * y;
    }
    for (int64_t i = 0; i < queries; ++i) {
      const Vec mean = sum[i] / total[i];
      for (int64_t c = 0; c < std::min<int64_t>(LANES, D - d); ++c) out[i * D + d + c] = mean[c];
    }
  }
}
