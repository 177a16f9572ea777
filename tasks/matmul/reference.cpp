// out = a b, in float64.
#include <algorithm>
#include <cstdint>

/// a: [M, K]; b: [K, N]; out: [M, N], all row-major. Four rows share each pass over b, and the
/// columns are cut so that their sums and a row of b stay in the first cache.
static void matmul_reference(const double* a, const double* b, double* out, int64_t M, int64_t N,
                             int64_t K) {
  constexpr int64_t kRows = 4, kCols = 256;
  for (int64_t n0 = 0; n0 < N; n0 += kCols) {
    const int64_t cols = std::min(kCols, N - n0);
    for (int64_t m0 = 0; m0 < M; m0 += kRows) {
      const int64_t rows = std::min(kRows, M - m0);
      double sum[kRows][kCols] = {};
      for (int64_t k = 0; k < K; ++k)
        for (int64_t r = 0; r < rows; ++r) {
          const double factor = a[(m0 + r) * K + k];
          for (int64_t n = 0; n < cols; ++n) sum[r][n] += factor * b[k * N + n0 + n];
        }
      for (int64_t r = 0; r < rows; ++r) std::copy_n(sum[r], cols, out + (m0 + r) * N + n0);
    }
  }
}

extern "C" void reference(const ks_reference* call) {
  const int64_t M = call->axis("M"), N = call->axis("N"), K = call->axis("K");
  const int64_t first = M * call->part / call->parts;
  const int64_t last = M * (call->part + 1) / call->parts;
  matmul_reference(call->input("a") + first * K, call->input("b"), call->output("out") + first * N,
                   last - first, N, K);
}
