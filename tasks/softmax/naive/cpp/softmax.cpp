// Softmax of one row a group, as the definition says it: maximum, exponentials, their sum, scale.
#include <algorithm>
#include <bit>
#include <cmath>

/// e^x of an x that is not positive, within 2e-7 of it: 2^n e^r, n an integer, r small. The
/// library's would be most of the time, and every ratio to this program hollow.
static float exponential(float x) {
  x = std::max(x, -87.0f);
  const float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum is rounded to n
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  float p = 1.0f / 720;
  for (const float c : {1.0f / 120, 1.0f / 24, 1.0f / 6, 1.0f / 2, 1.0f, 1.0f}) p = p * r + c;
  return p * std::bit_cast<float>((std::bit_cast<int32_t>(shifted) + 127) << 23);
}

extern "C" void softmax(const float* x, float* out, int64_t cols, const ks_group* group) {
  x += group->id[0] * cols;
  out += group->id[0] * cols;
  // Two of each, so that one does not wait for the other.
  float max = x[0], second = x[cols - 1];
  for (int64_t c = 1; c < cols; c += 2) {
    max = x[c - 1] > max ? x[c - 1] : max;
    second = x[c] > second ? x[c] : second;
  }
  max = std::max(max, second);
  for (int64_t c = 0; c < cols; ++c) out[c] = exponential(x[c] - max);
  // In double: one float sum of a long row loses more than the tolerance allows.
  double even = 0, odd = cols % 2 ? out[cols - 1] : 0;
  for (int64_t c = 1; c < cols; c += 2) {
    even += out[c - 1];
    odd += out[c];
  }
  const float scale = static_cast<float>(1 / (even + odd));
  for (int64_t c = 0; c < cols; ++c) out[c] *= scale;
}
