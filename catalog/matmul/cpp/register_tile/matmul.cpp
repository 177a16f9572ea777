// A tile of the output in registers: each vector of b that is loaded serves all its rows, and
// nothing is written until the sum over K is done. Both matrices are read where they lie.
#include <algorithm>
#include <array>
#include <utility>

namespace {

using Vec = float __attribute__((vector_size(4 * LANES)));

Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }
/// x in each lane. The compiler sees through x - 0, but not through x + 0, which changes -0.
Vec all(float x) { return x - Vec{}; }

constexpr int kVectors = 2;
constexpr int kCols = kVectors * LANES;  // of a tile

/// a, b and out point at the first element the tile needs.
template <int kRows>
void tile(const float* a, const float* b, float* out, int64_t N, int64_t K) {
  Vec sum[kRows][kVectors] = {};
  for (int64_t k = 0; k < K; ++k) {
    Vec row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = load(b + k * N + v * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec factor = all(a[r * K + k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * row[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) store(out + r * N + v * LANES, sum[r][v]);
}

template <int... kRows>
constexpr auto tiles_up_to(std::integer_sequence<int, kRows...>) {
  return std::array{&tile<kRows + 1>...};
}
constexpr auto kTiles = tiles_up_to(std::make_integer_sequence<int, MR>{});  // by rows - 1

/// Rows of the next tile of `left`: the last two share what is left, so that none is thin.
int64_t rows_of_tile(int64_t left) {
  return left >= 2 * MR ? MR : left > MR ? (left + 1) / 2 : left;
}

/// Columns too few for a tile.
void narrow(const float* a, const float* b, float* out, int64_t rows, int64_t N, int64_t K) {
  for (int64_t r = 0; r < rows; ++r) {
    std::fill_n(out + r * N, N, 0.0f);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t n = 0; n < N; ++n) out[r * N + n] += a[r * K + k] * b[k * N + n];
  }
}

}  // namespace

extern "C" void matmul(const float* a, const float* b, float* out, int64_t M, int64_t N, int64_t K,
                       int64_t share, const ks_group* group) {
  const int64_t last = std::min(M, (group->id[0] + 1) * share);
  for (int64_t m = group->id[0] * share; m < last;) {
    const int64_t rows = rows_of_tile(last - m);
    const float* a_rows = a + m * K;
    float* out_rows = out + m * N;
    m += rows;
    if (N < kCols) {
      narrow(a_rows, b, out_rows, rows, N, K);
      continue;
    }
    const auto compute = kTiles[static_cast<size_t>(rows - 1)];
    for (int64_t n = 0; n + kCols <= N; n += kCols) compute(a_rows, b + n, out_rows + n, N, K);
    // The last tile ends with the row, over some columns that the one before has written already.
    compute(a_rows, b + N - kCols, out_rows + N - kCols, N, K);
  }
}
