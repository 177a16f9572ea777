// The naive loops in blocks: a block of b stays in the second-level cache while all rows of the
// group pass over it, four of its rows at a time, so that the output is read and written a quarter
// as often.
#include <algorithm>

namespace {

/// out[0..cols) += the rows of b times their elements of a.
void add_rows(const float* a, const float* b, float* __restrict out, int64_t depth, int64_t cols,
              int64_t N) {
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const float *b0 = b + k * N, *b1 = b0 + N, *b2 = b1 + N, *b3 = b2 + N;
    for (int64_t n = 0; n < cols; ++n)
      out[n] += a[k] * b0[n] + a[k + 1] * b1[n] + a[k + 2] * b2[n] + a[k + 3] * b3[n];
  }
  for (; k < depth; ++k)
    for (int64_t n = 0; n < cols; ++n) out[n] += a[k] * b[k * N + n];
}

}  // namespace

extern "C" void matmul(const float* a, const float* b, float* out, int64_t M, int64_t N, int64_t K,
                       int64_t share, const ks_group* group) {
  const int64_t first = group->id[0] * share, last = std::min(M, first + share);
  std::fill_n(out + first * N, (last - first) * N, 0.0f);
  for (int64_t n = 0; n < N; n += BLOCK_N)
    for (int64_t k = 0; k < K; k += BLOCK_K)
      for (int64_t m = first; m < last; ++m)
        add_rows(a + m * K + k, b + k * N + n, out + m * N + n, std::min<int64_t>(BLOCK_K, K - k),
                 std::min<int64_t>(BLOCK_N, N - n), N);
}
