// Attention of one query a group, as the definition says it, in three passes: the scores, their
// softmax, the weighted sum of the values.
#include <algorithm>
#include <cmath>

extern "C" void attention(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                          int64_t D, int64_t heads_per_kv, bool causal, float scale,
                          const ks_group* group) {
  const int64_t i = group->id[0], head = group->id[1];
  q += (head * Lq + i) * D;
  out += (head * Lq + i) * D;
  k += head / heads_per_kv * Lk * D;
  v += head / heads_per_kv * Lk * D;
  const int64_t seen = causal ? i + Lk - Lq + 1 : Lk;
  float* score = static_cast<float*>(group->memory);

  for (int64_t j = 0; j < seen; ++j) {
    float sum = 0;
    for (int64_t d = 0; d < D; ++d) sum += float(q[d]) * float(k[j * D + d]);
    score[j] = sum * scale;
  }

  float max = score[0];
  for (int64_t j = 1; j < seen; ++j) max = std::max(max, score[j]);
  float total = 0;
  for (int64_t j = 0; j < seen; ++j) {
    score[j] = std::exp(score[j] - max);
    total += score[j];
  }

  for (int64_t d = 0; d < D; d += 2) {  // two columns a pass: each touches every row of v
    const int64_t e = std::min(d + 1, D - 1);
    float sum_d = 0, sum_e = 0;
    for (int64_t j = 0; j < seen; ++j) {
      sum_d += score[j] * float(v[j * D + d]);
      sum_e += score[j] * float(v[j * D + e]);
    }
    out[d] = sum_d / total;
    out[e] = sum_e / total;
  }
}
