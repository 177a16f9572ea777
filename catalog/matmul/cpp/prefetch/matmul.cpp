// Blocked for the caches, a copied, b packed, and both fetched before they are needed: a tile asks
// for its strip of b AHEAD rows ahead, and for one of the rows of a that are copied next. Packing
// reads b as it lies, several strips at a time.
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

/// Between rows of a in group memory: not a power of two, which would put all of them into one set
/// of the cache.
constexpr int64_t kStride = KC + 64 / sizeof(float);

/// `cols` of the tile's columns are in the matrix. With `add`, the output has the blocks of K
/// before. `next_a`: a row of a that is needed soon.
template <int kRows>
void tile(const float* a, const float* b, float* out, int64_t cols, int64_t N, int64_t depth,
          bool add, const float* next_a) {
  Vec sum[kRows][kVectors] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vec row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = load(b + k * kCols + v * LANES);
    if (AHEAD) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(b + (k + AHEAD) * kCols + v * LANES);
      __builtin_prefetch(next_a + k, 0, 2);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec factor = all(a[r * kStride + k]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * row[v];
    }
  }
  if (cols == kCols) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        float* p = out + r * N + v * LANES;
        store(p, add ? load(p) + sum[r][v] : sum[r][v]);
      }
    return;
  }
  float rest[kRows][kCols];
  std::memcpy(rest, sum, sizeof rest);
  for (int r = 0; r < kRows; ++r)
    for (int64_t n = 0; n < cols; ++n) out[r * N + n] = rest[r][n] + (add ? out[r * N + n] : 0.0f);
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

/// Packs `depth` rows of a strip of b, from `b` on, so that a tile reads it in one stream: kCols
/// columns a row, those past the end of the matrix 0.
void pack_strip(const float* b, float* packed, int64_t depth, int64_t cols, int64_t N) {
  for (int64_t k = 0; k < depth; ++k, b += N, packed += kCols) {
    if (cols == kCols) {
      for (int v = 0; v < kVectors; ++v) store(packed + v * LANES, load(b + v * LANES));
    } else {
      std::copy_n(b, cols, packed);
      std::fill_n(packed + cols, kCols - cols, 0.0f);
    }
  }
}

}  // namespace

/// Packs STRIPS strips of one block of KC rows, a row of all of them at a time, as that is how b
/// lies. A block's strips follow one another.
extern "C" void pack_b(const float* b, float* packed, int64_t N, int64_t K, const ks_group* group) {
  const int64_t first = group->id[0] * STRIPS * kCols, k0 = group->id[1] * KC;
  const int64_t depth = std::min<int64_t>(KC, K - k0), padded_n = (N + kCols - 1) / kCols * kCols;
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = first; n < std::min(N, first + STRIPS * kCols); n += kCols)
      pack_strip(b + (k0 + k) * N + n, packed + k0 * padded_n + n * depth + k * kCols, 1,
                 std::min<int64_t>(kCols, N - n), N);
}

extern "C" void matmul(const float* a, const float* packed, float* out, int64_t M, int64_t N,
                       int64_t K, int64_t share_m, int64_t share_n, const ks_group* group) {
  float* const a_rows = static_cast<float*>(group->memory);
  const int64_t first_m = group->id[0] * share_m, last_m = std::min(M, first_m + share_m);
  const int64_t first_n = group->id[1] * share_n, last_n = std::min(N, first_n + share_n);
  const int64_t padded_n = (N + kCols - 1) / kCols * kCols;
  for (int64_t k = 0; k < K; k += KC) {
    const int64_t depth = std::min<int64_t>(KC, K - k);
    for (int64_t m = first_m; m < last_m;) {
      const int64_t rows = rows_of_tile(last_m - m);
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(a + (m + r) * K + k, depth, a_rows + r * kStride);
      // Each tile fetches one row of those that are copied next.
      const float* next = m + rows < last_m ? a + (m + rows) * K + k : a + first_m * K + k + depth;
      const auto compute = kTiles[static_cast<size_t>(rows - 1)];
      for (int64_t n = first_n, row = 0; n < last_n; n += kCols, row = (row + 1) % MR)
        compute(a_rows, packed + k * padded_n + n * depth, out + m * N + n,
                std::min<int64_t>(kCols, N - n), N, depth, k > 0, next + row * K);
      m += rows;
    }
  }
}
