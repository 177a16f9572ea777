// Three launches, as the definition says: the experts of each token, the sorted pairs, the rows.
#include <algorithm>
#include <cmath>

/// One token a group: the largest logit that was not taken yet, K times.
extern "C" void choose(const float* logits, float* weights, int32_t* experts, int64_t E, int64_t K,
                       const ks_group* group) {
  const int64_t n = group->id[0];
  const float* row = logits + n * E;
  weights += n * K;
  experts += n * K;
  for (int64_t c = 0; c < K; ++c) {
    int64_t best = -1;
    for (int64_t e = 0; e < E; ++e) {
      if (std::find(experts, experts + c, int32_t(e)) != experts + c) continue;
      if (best < 0 || row[e] > row[best]) best = e;
    }
    experts[c] = int32_t(best);
  }
  float total = 0;
  for (int64_t c = 0; c < K; ++c) total += weights[c] = std::exp(row[experts[c]] - row[experts[0]]);
  for (int64_t c = 0; c < K; ++c) weights[c] /= total;
}

/// One group: a counting sort of the pairs by their expert.
extern "C" void sort(const int32_t* experts, int32_t* offsets, int32_t* pairs, int64_t count,
                     int64_t E, const ks_group* group) {
  int32_t* next = static_cast<int32_t*>(group->memory);
  for (int64_t e = 0; e <= E; ++e) offsets[e] = 0;
  for (int64_t p = 0; p < count; ++p) ++offsets[experts[p] + 1];
  for (int64_t e = 0; e < E; ++e) offsets[e + 1] += offsets[e];
  for (int64_t e = 0; e < E; ++e) next[e] = offsets[e];
  for (int64_t p = 0; p < count; ++p) pairs[next[experts[p]]++] = int32_t(p);
}

/// One row a group.
extern "C" void gather(const T* x, const int32_t* pairs, T* gathered, int64_t K, int64_t W,
                       const ks_group* group) {
  const int64_t i = group->id[0];
  const T* from = x + pairs[i] / K * W;
  for (int64_t w = 0; w < W; ++w) gathered[i * W + w] = from[w];
}
