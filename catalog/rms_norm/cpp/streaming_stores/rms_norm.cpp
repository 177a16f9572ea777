// rms_norm of a few rows a group, a vector at a time. The output is written past the caches: its
// lines are not read first, and push nothing out.
#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));
using Int = int32_t __attribute__((vector_size(4 * LANES)));

Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

float sum(Vec v) {
  float lane[LANES];
  std::memcpy(lane, &v, sizeof v);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}

/// Of the last vector of a row, which ends at its end: the lanes from `from` on, else 0. Those
/// before belong to the vector before it, too, and are counted there.
Vec lanes_from(int64_t from, Vec v) {
  Int lane{};
  for (int i = 0; i < LANES; ++i) lane[i] = i;
  return lane >= static_cast<int32_t>(from) ? v : Vec{};
}

float inverse_rms(float squares, int64_t cols, float eps) {
  return 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
}

/// A row shorter than a vector.
void narrow_row(const float* x, const float* w, float* out, int64_t cols, float eps) {
  float squares = 0;
  for (int64_t c = 0; c < cols; ++c) squares += x[c] * x[c];
  const float scale = inverse_rms(squares, cols, eps);
  for (int64_t c = 0; c < cols; ++c) out[c] = x[c] * scale * w[c];
}

float sum_of_squares(const float* x, int64_t cols) {
  // A chain of dependent additions for each accumulator: four hide their latency.
  Vec s[4] = {};
  int64_t c = 0;
  for (; c + 4 * LANES <= cols; c += 4 * LANES)
    for (int i = 0; i < 4; ++i) s[i] += load(x + c + i * LANES) * load(x + c + i * LANES);
  for (; c + LANES <= cols; c += LANES) s[0] += load(x + c) * load(x + c);
  const Vec last = load(x + cols - LANES);
  s[1] += lanes_from(c + LANES - cols, last * last);
  return sum((s[0] + s[1]) + (s[2] + s[3]));
}

/// Past the caches, where the compiler has such a store; `p` is aligned to the vector.
void stream(float* p, Vec v) {
#if defined(__clang__)
  __builtin_nontemporal_store(v, reinterpret_cast<Vec*>(p));
#elif defined(__AVX512F__) && LANES == 16
  _mm512_stream_ps(p, (__m512)v);
#elif defined(__AVX__) && LANES == 8
  _mm256_stream_ps(p, (__m256)v);
#else
  store(p, v);
#endif
}
/// Such stores are ordered before whatever says that the group is done.
void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}
/// Elements from `p` to the next address that is aligned to a vector.
int64_t to_alignment(const float* p) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(p) / sizeof(float) % LANES);
}

void rms_norm_row(const float* x, const float* w, float* out, int64_t cols, float eps) {
  const float scale = inverse_rms(sum_of_squares(x, cols), cols, eps);
  const auto value = [&](int64_t at) { return load(x + at) * scale * load(w + at); };
  store(out, value(0));
  for (int64_t c = to_alignment(out); c + LANES <= cols; c += LANES) stream(out + c, value(c));
  store(out + cols - LANES, value(cols - LANES));
}

}  // namespace

extern "C" void rms_norm(const float* x, const float* w, float* out, int64_t rows, int64_t cols,
                         int64_t share, float eps, const ks_group* group) {
  const int64_t first = group->id[0] * share, last = std::min(rows, first + share);
  for (int64_t r = first; r < last; ++r)
    if (cols < LANES)
      narrow_row(x + r * cols, w, out + r * cols, cols, eps);
    else
      rms_norm_row(x + r * cols, w, out + r * cols, cols, eps);
  stream_fence();
}
