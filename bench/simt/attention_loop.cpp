#include "attention_loop.h"

#include <cmath>
#include <vector>

namespace ksearch::bench {

void attention_loop(const float* q, const float* k,
                    const float* v, float* o, int heads, int length) {
  constexpr int kDim = 64;
  std::vector<float> score(static_cast<std::size_t>(length));
  for (int h = 0; h < heads; ++h) {
    const float* keys = k + h * length * kDim;
    const float* values = v + h * length * kDim;
    for (int i = 0; i < length; ++i) {
      const float* query = q + (h * length + i) * kDim;
      float* out = o + (h * length + i) * kDim;
      float most = -INFINITY, total = 0;
      for (int j = 0; j < length; ++j) {
        float sum = 0;
        for (int d = 0; d < kDim; ++d) sum += query[d] * keys[j * kDim + d];
        score[static_cast<std::size_t>(j)] = sum * 0.125f;
        most = std::fmax(most, sum * 0.125f);
      }
      for (int d = 0; d < kDim; ++d) out[d] = 0;
      for (int j = 0; j < length; ++j) {
        const float weight = std::exp(score[static_cast<std::size_t>(j)] - most);
        total += weight;
        for (int d = 0; d < kDim; ++d) out[d] += weight * values[j * kDim + d];
      }
      for (int d = 0; d < kDim; ++d) out[d] /= total;
    }
  }
}

}  // namespace ksearch::bench
