// Softmax of a few rows a group, a vector at a time. While the exponentials of a row are computed,
// which takes no memory bandwidth, the next row is fetched.
#include <algorithm>
#include <limits>

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

void softmax_row(const float* x, float* out, int64_t cols, const float* next) {
  // A chain of dependent operations for each accumulator: four hide their latency.
  Vec m[4];
  for (Vec& v : m) v = load(x + cols - LANES);
  int64_t c = 0;
  for (; c + 4 * LANES <= cols; c += 4 * LANES)
    for (int i = 0; i < 4; ++i) m[i] = max(m[i], load(x + c + i * LANES));
  for (; c + LANES <= cols; c += LANES) m[0] = max(m[0], load(x + c));
  const float shift = -kLog2e * largest(max(max(m[0], m[1]), max(m[2], m[3])));

  const auto exponential = [&](int64_t at) { return exp2(load(x + at) * kLog2e + shift); };
  const Vec last = exponential(cols - LANES);
  Sum s;
  for (c = 0; c + LANES <= cols; c += LANES) {
    const Vec e = exponential(c);
    store(out + c, e);
    s.add(e);
    __builtin_prefetch(next + c, 0, 2);
  }
  const float scale = 1 / sum(s.block + s.total + lanes_from(c + LANES - cols, last));

  for (c = 0; c + LANES <= cols; c += LANES) store(out + c, load(out + c) * scale);
  store(out + cols - LANES, last * scale);
}

}  // namespace

extern "C" void softmax(const float* x, float* out, int64_t rows, int64_t cols, int64_t share,
                        const ks_group* group) {
  const int64_t first = group->id[0] * share;
  for (int64_t r = first; r < std::min(rows, first + share); ++r)
    if (cols < LANES)
      narrow_row(x + r * cols, out + r * cols, cols);
    else
      softmax_row(x + r * cols, out + r * cols, cols, x + std::min(r + 1, rows - 1) * cols);
}
