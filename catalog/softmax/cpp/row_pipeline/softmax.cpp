// Softmax with three rows in flight: one loop writes a row, computes the exponentials of the next
// and finds the maximum of the one after it, so that reading, computing and writing overlap all the
// time. AHEAD: elements by which the row that is read is prefetched, or 0. STREAM: write past the
// caches.
#include <algorithm>
#include <limits>

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
Vec max(Vec a, Vec b) { return a > b ? a : b; }

template <class Op>
float reduce(Vec v, Op op) {
  float lane[LANES];
  std::memcpy(lane, &v, sizeof v);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = op(lane[i], lane[i + half]);
  return lane[0];
}
float largest(Vec v) {
  return reduce(v, [](float a, float b) { return a > b ? a : b; });
}
float sum(Vec v) {
  return reduce(v, [](float a, float b) { return a + b; });
}

/// 2^t for t <= 0, to 2e-7. Adding 1.5 * 2^23 rounds t and leaves its integer in the low bits,
/// which go into the exponent; the polynomial is of degree 5, for the fraction in [-0.5, 0.5].
Vec exp2(Vec t) {
  t = max(t, Vec{} - 126.0f);
  const Vec shifted = t + 12582912.0f;
  const Vec f = t - (shifted - 12582912.0f);
  Vec p = f * 1.33335581e-3f + 9.61812911e-3f;
  p = p * f + 5.55041087e-2f;
  p = p * f + 2.40226507e-1f;
  p = p * f + 6.93147181e-1f;
  p = p * f + 1.0f;
  return (Vec)((Int)p + ((Int)shifted << 23));
}
constexpr float kLog2e = 1.44269504f;

/// Of the last vector of a row, which ends at its end: the lanes from `from` on, else 0. Those
/// before belong to the vector before it, too, and are counted there.
Vec lanes_from(int64_t from, Vec v) {
  Int lane{};
  for (int i = 0; i < LANES; ++i) lane[i] = i;
  return lane >= static_cast<int32_t>(from) ? v : Vec{};
}

/// Adds up in two levels: one float sum of a long row loses more than the tolerance allows.
struct Sum {
  Vec block{}, total{};
  int count = 0;
  void add(Vec v) {
    block += v;
    if (++count < 64) return;
    total += block;
    block = Vec{};
    count = 0;
  }
};

/// A row shorter than a vector, as the start of one.
void narrow_row(const float* x, float* out, int64_t cols) {
  float padded[LANES], result[LANES];
  std::fill_n(padded, LANES, std::numeric_limits<float>::lowest());
  std::copy_n(x, cols, padded);
  const Vec v = load(padded);
  const Vec e = exp2((v - largest(v)) * kLog2e);
  store(result, e / sum(e));
  std::copy_n(result, cols, out);
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

/// What is known of the rows in flight. `e` holds the exponentials of the row to be written, then
/// those of the next.
struct Flight {
  float* e;
  float scale;  ///< of the row whose exponentials are there
  float shift;  ///< of the row whose maximum is known: minus the maximum, in powers of two
  Vec last;     ///< the last vector of exponentials; in `e` it overlaps the one before
};

/// One row is written to `out`, the exponentials of `x` follow it in `e`, the maximum of `y` is
/// found. At the ends of the rows some of that is left out.
template <bool kWrite, bool kExp, bool kMax>
void advance(Flight& flight, float* out, const float* x, const float* y, int64_t cols) {
  float* const e = flight.e;
  const auto exponential = [&](int64_t at) { return exp2(load(x + at) * kLog2e + flight.shift); };
  Vec m[2] = {}, last{};
  Sum s;
  int64_t lead = 0;  // so far the writing is ahead: what it reads of `e` is not yet overwritten
  if (kWrite) {
    store(out + cols - LANES, flight.last * flight.scale);
    store(out, load(e) * flight.scale);
    lead = STREAM ? to_alignment(out) : 0;
  }
  if (kExp) last = exponential(cols - LANES);
  if (kMax) m[0] = m[1] = load(y + cols - LANES);

  const auto write = [&](int64_t at) {
    const Vec v = load(e + at) * flight.scale;
    STREAM ? stream(out + at, v) : store(out + at, v);
  };
  const auto read = [&](int64_t at, int i) {
    if (kMax) m[i] = max(m[i], load(y + at));
    if (kExp) {
      const Vec v = exponential(at);
      store(e + at, v);
      s.add(v);
    }
  };
  int64_t c = 0;
  for (; c + lead + 2 * LANES <= cols; c += 2 * LANES) {
    if (kMax && AHEAD)
      for (int i = 0; i < 2; ++i) __builtin_prefetch(y + c + i * LANES + AHEAD);
    for (int i = 0; kWrite && i < 2; ++i) write(c + lead + i * LANES);
    for (int i = 0; i < 2; ++i) read(c + i * LANES, i);
  }
  for (int64_t w = c + lead; kWrite && w + LANES <= cols; w += LANES) write(w);
  for (; c + LANES <= cols; c += LANES) read(c, 0);

  if (kExp) {
    store(e + cols - LANES, last);
    flight.last = last;
    flight.scale = 1 / sum(s.block + s.total + lanes_from(c + LANES - cols, last));
  }
  if (kMax) flight.shift = -kLog2e * largest(max(m[0], m[1]));
}

void softmax_rows(const float* x, float* out, float* e, int64_t rows, int64_t cols) {
  Flight flight{e, 0, 0, {}};
  advance<false, false, true>(flight, nullptr, nullptr, x, cols);
  if (rows > 1) advance<false, true, true>(flight, nullptr, x, x + cols, cols);
  for (int64_t r = 2; r < rows; ++r)
    advance<true, true, true>(flight, out + (r - 2) * cols, x + (r - 1) * cols, x + r * cols, cols);
  if (rows > 1)
    advance<true, true, false>(flight, out + (rows - 2) * cols, x + (rows - 1) * cols, nullptr,
                               cols);
  else
    advance<false, true, false>(flight, nullptr, x, nullptr, cols);
  advance<true, false, false>(flight, out + (rows - 1) * cols, nullptr, nullptr, cols);
}

}  // namespace

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols, int64_t share,
                        const ks_group* group) {
  const int64_t first = group->id[0] * share, count = std::min(rows - first, share);
  x += first * cols;
  out += first * cols;
  if (cols >= LANES)
    softmax_rows(x, out, static_cast<float*>(group->memory), count, cols);
  else
    for (int64_t r = 0; r < count; ++r) narrow_row(x + r * cols, out + r * cols, cols);
  stream_fence();
}
