#include "attention_loop.h"

#include <cmath>

namespace ksearch::bench {

void attention_loop(const std::vector<float>& q, const std::vector<float>& k,
                    const std::vector<float>& v, std::vector<float>& o, int heads, int length) {
  constexpr int kDim = 64;
  std::vector<float> score(static_cast<std::size_t>(length));
  for (int h = 0; h < heads; ++h) {
    const float* keys = k.data() + h * length * kDim;
    const float* values = v.data() + h * length * kDim;
    for (int i = 0; i < length; ++i) {
      const float* query = q.data() + (h * length + i) * kDim;
      float* out = o.data() + (h * length + i) * kDim;
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
