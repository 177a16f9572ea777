// rms_norm of a few rows a group, a vector at a time: the sum of squares, then the scaled row.
#include <algorithm>
#include <cmath>

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

void rms_norm_row(const float* x, const float* w, float* out, int64_t cols, float eps) {
  const float scale = inverse_rms(sum_of_squares(x, cols), cols, eps);
  const auto write = [&](int64_t at) { store(out + at, load(x + at) * scale * load(w + at)); };
  for (int64_t c = 0; c + LANES <= cols; c += LANES) write(c);
  write(cols - LANES);
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
}
