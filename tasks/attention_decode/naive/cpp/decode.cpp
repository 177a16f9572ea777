// One query head a group, as the definition says, in three passes: the scores, their softmax, the
// weighted sum of the values.
#include <algorithm>
#include <cmath>

extern "C" void decode(const T* q, const T* k, const T* v, const int32_t* lengths, T* out,
                       int64_t Lmax, int64_t D, int64_t heads_per_kv, float scale,
                       const ks_group* group) {
  const int64_t h = group->id[0], b = group->id[1], H = group->count[0];
  q += (b * H + h) * D;
  out += (b * H + h) * D;
  const int64_t kv = b * (H / heads_per_kv) + h / heads_per_kv;
  k += kv * Lmax * D;
  v += kv * Lmax * D;
  const int64_t length = lengths[b];
  float* score = static_cast<float*>(group->memory);
  float* sum = score + Lmax;

  for (int64_t j = 0; j < length; ++j) {
    float dot = 0;
    for (int64_t d = 0; d < D; ++d) dot += float(q[d]) * float(k[j * D + d]);
    score[j] = dot * scale;
  }
  const float max = *std::max_element(score, score + length);
  float total = 0;
  for (int64_t j = 0; j < length; ++j) {
    score[j] = std::exp(score[j] - max);
    total += score[j];
  }
  for (int64_t d = 0; d < D; ++d) sum[d] = 0;
  for (int64_t j = 0; j < length; ++j)
    for (int64_t d = 0; d < D; ++d) sum[d] += score[j] * float(v[j * D + d]);
  for (int64_t d = 0; d < D; ++d) out[d] = sum[d] / total;
}
