#include <cmath>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "parts.h"

#define SQUARED(v) ((v) * (v))

extern "C" void add_chunk(const T* x, float* sums, int64_t cols, int64_t from,
                          const ks_group* group) {
  float* part = static_cast<float*>(group->memory);
  const int64_t n = smaller(cols - from, CHUNK);
  for (int64_t i = 0; i < n; ++i) part[i] = static_cast<float>(x[group->id[0] * cols + from + i]);
  for (int64_t i = 0; i < n; ++i) sums[group->id[0]] += part[i];
}

extern "C" {
void scale(const T* x, const float* bias, T* scaled, const float* sums, int32_t cols, float factor,
           const ks_group* group) {
  const int64_t row = group->id[0];
  static_assert(WIDTH >= 4);
  for (int64_t c = 0; c < cols; ++c) {
    const float b = bias ? bias[c] : 0.0f;
    scaled[row * cols + c] = T((static_cast<float>(x[row * cols + c]) + b) * factor / sums[row]);
  }
}

#ifdef COLS  // only in the copies for its launches
void finish(const T* scaled, T* out, int64_t cols, bool square, const ks_group* group) {
  const int64_t n = COLS > 0 ? COLS : cols;
  for (int64_t c = 0; c < n; ++c) {
    const float v = static_cast<float>(scaled[group->id[0] * n + c]);
    out[group->id[0] * n + c] = T(square ? SQUARED(v) : v);
  }
}
#endif
}
