// Softmax of one row a group, as the definition says it: maximum, exponentials, their sum, scale.
#include <algorithm>
#include <cmath>

extern "C" void softmax(const float* x, float* out, int64_t cols, const ks_group* group) {
  x += group->id[0] * cols;
  out += group->id[0] * cols;
  float max = x[0];
  for (int64_t c = 1; c < cols; ++c) max = std::max(max, x[c]);
  double sum = 0;  // one float sum of a long row loses more than the tolerance allows
  for (int64_t c = 0; c < cols; ++c) {
    out[c] = std::exp(x[c] - max);
    sum += out[c];
  }
  const float scale = static_cast<float>(1 / sum);
  for (int64_t c = 0; c < cols; ++c) out[c] *= scale;
}
