// ROWS rows a group, 32 sums a row side by side.
#include <algorithm>

static float row_sum(const float* x, const float* w, int64_t cols) {
  constexpr int64_t kWide = 32;
  float sums[kWide] = {};
  int64_t c = 0;
  for (; c + kWide <= cols; c += kWide)
    for (int64_t i = 0; i < kWide; ++i) sums[i] += x[c + i] * w[c + i];
  float rest = 0;
  for (; c < cols; ++c) rest += x[c] * w[c];
  for (int64_t half = kWide / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0] + rest;
}

extern "C" void @NAME@(const float* x, const float* w, float* out, int64_t rows, int64_t cols,
                       const ks_group* group) {
  const int64_t first = group->id[0] * ROWS, last = std::min<int64_t>(first + ROWS, rows);
  for (int64_t r = first; r < last; ++r) out[r] = row_sum(x + r * cols, w, cols);
}
