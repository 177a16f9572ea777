// Attention of one query a group, in vectors: a dot product runs along d in LANES lanes, for four
// keys at a time; the values are summed into one vector of the output at a time.
#include <algorithm>
#include <cmath>
#include <type_traits>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
constexpr int kKeys =
    4;  // independent chains of multiply-adds, which have a latency of four cycles

Vec load(const float* p) {
  Vec x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
void store(float* p, Vec x) { std::memcpy(p, &x, sizeof x); }

/// The first n elements at p, then zeros; reads nothing past p[n - 1].
template <class S>
Vec load(const S* p, int64_t n) {
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

/// score[j] for the first `keys` of kKeys rows of k. q: D floats and zeros up to a whole vector.
void score_keys(const float* q, const T* k, int64_t D, int64_t keys, float scale, float* score) {
  const T* row[kKeys];
  for (int j = 0; j < kKeys; ++j) row[j] = k + std::min<int64_t>(j, keys - 1) * D;
  Vec sum[kKeys] = {};
  for (int64_t d = 0; d < D; d += LANES) {
    const Vec x = load(q + d);
    for (int j = 0; j < kKeys; ++j) sum[j] += x * load(row[j] + d, D - d);
  }
  for (int64_t j = 0; j < keys; ++j) score[j] = sum_of(sum[j]) * scale;
}

}  // namespace

extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads_per_kv, bool causal, float scale,
                          const ks_group* group) {
  const int64_t i = group->id[0], head = group->id[1];
  q += (head * Lq + i) * D;
  out += (head * Lq + i) * D;
  k += head / heads_per_kv * Lk * D;
  v += head / heads_per_kv * Lk * D;
  const int64_t seen = causal ? i + Lk - Lq + 1 : Lk;
  float* query = static_cast<float*>(group->memory);
  float* score = query + (D + LANES - 1) / LANES * LANES;

  for (int64_t d = 0; d < D; d += LANES) store(query + d, load(q + d, D - d));
  for (int64_t j = 0; j < seen; j += kKeys)
    score_keys(query, k + j * D, D, std::min<int64_t>(kKeys, seen - j), scale, score + j);

  float max = score[0];
  for (int64_t j = 1; j < seen; ++j) max = std::max(max, score[j]);
  float total = 0;
  for (int64_t j = 0; j < seen; ++j) {
    score[j] = std::exp(score[j] - max);
    total += score[j];
  }

  for (int64_t d = 0; d < D; d += LANES) {
    Vec sum[kKeys] = {};
    int64_t j = 0;
    for (; j + kKeys <= seen; j += kKeys)
      for (int c = 0; c < kKeys; ++c) sum[c] += score[j + c] * load(v + (j + c) * D + d, D - d);
    for (; j < seen; ++j) sum[0] += score[j] * load(v + j * D + d, D - d);
    const Vec mean = (sum[0] + sum[1] + sum[2] + sum[3]) / total;
    for (int64_t c = 0; c < std::min<int64_t>(LANES, D - d); ++c) out[d + c] = mean[c];
  }
}
