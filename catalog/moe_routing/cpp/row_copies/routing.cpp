// Three launches. The experts of a token by insertion into a short sorted list, one pass over its
// logits; a counting sort of the pairs; rows copied whole, sixteen a group.
#include <algorithm>
#include <cmath>

/// 16 tokens a group. The list holds the K largest so far, largest first; equal ones keep their order.
extern "C" void choose(const float* logits, float* weights, int32_t* experts, int64_t N, int64_t E,
                       int64_t K, const ks_group* group) {
  const int64_t end = std::min(N, (group->id[0] + 1) * 16);
  for (int64_t n = group->id[0] * 16; n < end; ++n) {
    const float* row = logits + n * E;
    float* best = weights + n * K;
    int32_t* at = experts + n * K;
    int64_t held = 0;
    for (int64_t e = 0; e < E; ++e) {
      const float x = row[e];
      if (held == K && x <= best[K - 1]) continue;
      int64_t c = held < K ? held++ : K - 1;
      for (; c > 0 && x > best[c - 1]; --c) {
        best[c] = best[c - 1];
        at[c] = at[c - 1];
      }
      best[c] = x;
      at[c] = int32_t(e);
    }
    const float max = best[0];
    float total = 0;
    for (int64_t c = 0; c < K; ++c) total += best[c] = std::exp(best[c] - max);
    for (int64_t c = 0; c < K; ++c) best[c] /= total;
  }
}

/// One group: a counting sort of the pairs by their expert.
extern "C" void sort(const int32_t* experts, int32_t* offsets, int32_t* pairs, int64_t count,
                     int64_t E, const ks_group* group) {
  int32_t* next = static_cast<int32_t*>(group->memory);
  std::fill_n(offsets, E + 1, 0);
  for (int64_t p = 0; p < count; ++p) ++offsets[experts[p] + 1];
  for (int64_t e = 0; e < E; ++e) next[e] = offsets[e + 1] += offsets[e];
  for (int64_t p = count; p-- > 0;) pairs[--next[experts[p]]] = int32_t(p);
}

/// 16 rows a group.
extern "C" void gather(const T* x, const int32_t* pairs, T* gathered, int64_t count, int64_t K,
                       int64_t W, const ks_group* group) {
  const int64_t end = std::min(count, (group->id[0] + 1) * 16);
  for (int64_t i = group->id[0] * 16; i < end; ++i)
    std::memcpy(gathered + i * W, x + pairs[i] / K * W, size_t(W) * sizeof(T));
}
