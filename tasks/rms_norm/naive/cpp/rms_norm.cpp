// One row a group, as the definition says it: the sum of squares, then the scaled row.
#include <cmath>

extern "C" void rms_norm(const float* x, const float* w, float* out, int64_t cols, float eps,
                         const ks_group* group) {
  x += group->id[0] * cols;
  out += group->id[0] * cols;
  double even = 0, odd = 0;  // float sums of a long row lose more than the tolerance allows
  for (int64_t c = 0; c + 1 < cols; c += 2) {  // two of them, as one waits for each addition
    even += x[c] * x[c];
    odd += x[c + 1] * x[c + 1];
  }
  if (cols % 2) even += x[cols - 1] * x[cols - 1];
  const double squares = even + odd;
  const float scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(cols) + eps));
  for (int64_t c = 0; c < cols; ++c) out[c] = x[c] * scale * w[c];
}
