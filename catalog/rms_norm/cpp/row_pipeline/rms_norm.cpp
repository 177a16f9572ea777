// rms_norm with two rows in flight: one loop writes a row and adds up the squares of the next, so
// that reading and writing overlap all the time. AHEAD: elements by which the row that is read is
// prefetched, or 0. STREAM: write past the caches.
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

/// Writes row `x`, whose inverse root mean square is `scale`, to `out`, and gives the sum of
/// squares of row `y`. At the ends of the rows one of them is left out.
template <bool kWrite, bool kRead>
float advance(const float* x, const float* w, float* out, float scale, const float* y,
              int64_t cols) {
  const auto value = [&](int64_t at) { return load(x + at) * scale * load(w + at); };
  int64_t lead = 0;
  if (kWrite) {
    store(out, value(0));
    store(out + cols - LANES, value(cols - LANES));
    lead = STREAM ? to_alignment(out) : 0;
  }
  Vec s[4] = {};
  int64_t c = 0;
  for (; c + lead + 4 * LANES <= cols; c += 4 * LANES)
    for (int i = 0; i < 4; ++i) {
      const int64_t at = c + i * LANES;
      if (kRead && AHEAD) __builtin_prefetch(y + at + AHEAD);
      if (kRead) s[i] += load(y + at) * load(y + at);
      if (kWrite) STREAM ? stream(out + lead + at, value(lead + at)) : store(out + at, value(at));
    }
  for (int64_t at = c + lead; kWrite && at + LANES <= cols; at += LANES)
    STREAM ? stream(out + at, value(at)) : store(out + at, value(at));
  if (!kRead) return 0;
  for (; c + LANES <= cols; c += LANES) s[0] += load(y + c) * load(y + c);
  const Vec last = load(y + cols - LANES);
  s[1] += lanes_from(c + LANES - cols, last * last);
  return sum((s[0] + s[1]) + (s[2] + s[3]));
}

void rms_norm_rows(const float* x, const float* w, float* out, int64_t rows, int64_t cols,
                   float eps) {
  float squares = advance<false, true>(nullptr, w, nullptr, 0, x, cols);
  for (int64_t r = 1; r < rows; ++r)
    squares = advance<true, true>(x + (r - 1) * cols, w, out + (r - 1) * cols,
                                  inverse_rms(squares, cols, eps), x + r * cols, cols);
  advance<true, false>(x + (rows - 1) * cols, w, out + (rows - 1) * cols,
                       inverse_rms(squares, cols, eps), nullptr, cols);
}

}  // namespace

extern "C" void rms_norm(const float* x, const float* w, float* out, int64_t rows, int64_t cols,
                         int64_t share, float eps, const ks_group* group) {
  const int64_t first = group->id[0] * share, last = std::min(rows, first + share);
  if (cols >= LANES)
    rms_norm_rows(x + first * cols, w, out + first * cols, last - first, cols, eps);
  else
    for (int64_t r = first; r < last; ++r) narrow_row(x + r * cols, w, out + r * cols, cols, eps);
  stream_fence();
}
