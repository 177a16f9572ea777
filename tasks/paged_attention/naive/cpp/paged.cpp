// One query head a group, as the definition says: the scores of all tokens, their softmax, the
// weighted sum of the values. A token's row is looked up by its page.
#include <algorithm>
#include <cmath>

extern "C" void paged(const T* q, const T* k_cache, const T* v_cache, const int32_t* indptr,
                      const int32_t* indices, const int32_t* last_page_len, T* out, int64_t Hkv,
                      int64_t D, int64_t P, int64_t most, float scale, const ks_group* group) {
  const int64_t h = group->id[0], s = group->id[1], H = group->count[0];
  q += (s * H + h) * D;
  out += (s * H + h) * D;
  const int64_t kv = h / (H / Hkv), first = indptr[s];
  const int64_t length = (indptr[s + 1] - first - 1) * P + last_page_len[s];
  const auto row = [&](int64_t j) { return ((indices[first + j / P] * P + j % P) * Hkv + kv) * D; };
  float* score = static_cast<float*>(group->memory);
  float* sum = score + most;

  for (int64_t j = 0; j < length; ++j) {
    const T* k = k_cache + row(j);
    float dot = 0;
    for (int64_t d = 0; d < D; ++d) dot += float(q[d]) * float(k[d]);
    score[j] = dot * scale;
  }
  const float max = *std::max_element(score, score + length);
  float total = 0;
  for (int64_t j = 0; j < length; ++j) {
    score[j] = std::exp(score[j] - max);
    total += score[j];
  }
  for (int64_t d = 0; d < D; ++d) sum[d] = 0;
  for (int64_t j = 0; j < length; ++j) {
    const T* v = v_cache + row(j);
    for (int64_t d = 0; d < D; ++d) sum[d] += score[j] * float(v[d]);
  }
  for (int64_t d = 0; d < D; ++d) out[d] = sum[d] / total;
}
