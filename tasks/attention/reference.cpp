// Scaled dot-product attention with grouped query heads, in float64. The sums are those of the
// definition; four queries share each pass over keys and values, because truth is made while a search
// waits for it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int64_t kRows = 4, kLanes = 8, kCols = 4 * kLanes;
typedef double Lanes __attribute__((vector_size(sizeof(double) * kLanes), aligned(sizeof(double))));

int64_t padded(int64_t n) { return (n + kCols - 1) / kCols * kCols; }

/// c[r][n] = sum over k of a[r][k] b[k][n], for kRows rows; n is a multiple of kCols.
void multiply(const double* a, int64_t a_stride, const double* b, int64_t b_stride, double* c,
              int64_t c_stride, int64_t n, int64_t depth) {
  constexpr int64_t kVectors = kCols / kLanes;
  for (int64_t n0 = 0; n0 < n; n0 += kCols) {
    Lanes sum[kRows][kVectors] = {};
    for (int64_t k = 0; k < depth; ++k) {
      Lanes row[kVectors];
#pragma GCC unroll 8
      for (int64_t l = 0; l < kVectors; ++l)
        row[l] = *reinterpret_cast<const Lanes*>(b + k * b_stride + n0 + l * kLanes);
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) {
        const double factor = a[r * a_stride + k];
#pragma GCC unroll 8
        for (int64_t l = 0; l < kVectors; ++l) sum[r][l] += factor * row[l];
      }
    }
    for (int64_t r = 0; r < kRows; ++r)
      std::copy_n(reinterpret_cast<const double*>(sum[r]), kCols, c + r * c_stride + n0);
  }
}

/// Softmax of the first `seen` scores, in place and without the division; zeros after them. The sum.
double soften(double* score, int64_t seen, int64_t size) {
  const double max = *std::max_element(score, score + seen);
  double sum = 0;
  for (int64_t j = 0; j < seen; ++j) sum += score[j] = std::exp(score[j] - max);
  std::fill(score + seen, score + size, 0.0);
  return sum;
}

/// One query head. q, out: [Lq, D]; k, v: [Lk, D]. Causal is aligned to the end: query i sees keys
/// j <= i + Lk - Lq.
void attention_head(const double* q, const double* k, const double* v, double* out, int64_t Lq,
                    int64_t Lk, int64_t D, bool causal, double scale) {
  // One vector more, so that the rows do not all fall on the same lines of the first cache.
  const int64_t keys = padded(Lk) + kLanes, dims = padded(D);
  std::vector<double> transposed(static_cast<size_t>(D * keys)), values(static_cast<size_t>(Lk * dims));
  for (int64_t j = 0; j < Lk; ++j)
    for (int64_t d = 0; d < D; ++d) {
      transposed[static_cast<size_t>(d * keys + j)] = k[j * D + d];
      values[static_cast<size_t>(j * dims + d)] = v[j * D + d];
    }
  std::vector<double> query(static_cast<size_t>(kRows * D)), score(static_cast<size_t>(kRows * keys)),
      result(static_cast<size_t>(kRows * dims));
  for (int64_t i = 0; i < Lq; i += kRows) {
    const int64_t rows = std::min(kRows, Lq - i);
    for (int64_t n = 0; n < rows * D; ++n) query[static_cast<size_t>(n)] = scale * q[i * D + n];
    const int64_t most = causal ? i + rows + Lk - Lq : Lk;  // keys that the last of the rows sees
    multiply(query.data(), D, transposed.data(), keys, score.data(), keys, padded(most), D);
    double sum[kRows];
    for (int64_t r = 0; r < rows; ++r)
      sum[r] = soften(score.data() + r * keys, causal ? i + r + Lk - Lq + 1 : Lk, padded(most));
    multiply(score.data(), keys, values.data(), dims, result.data(), dims, dims, most);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < D; ++d)
        out[(i + r) * D + d] = result[static_cast<size_t>(r * dims + d)] / sum[r];
  }
}

}  // namespace

/// q, out: [B, H, Lq, D]; k, v: [B, Hkv, Lk, D]. Query head h reads head h / (H / Hkv).
extern "C" void reference(const ks_reference* call) {
  const int64_t H = call->axis("H"), Hkv = call->axis("Hkv");
  const int64_t Lq = call->axis("Lq"), Lk = call->axis("Lk"), D = call->axis("D");
  for (int64_t head = call->part; head < call->axis("B") * H; head += call->parts) {
    const int64_t query = head * Lq * D;
    const int64_t key = (head / H * Hkv + head % H / (H / Hkv)) * Lk * D;
    attention_head(call->input("q") + query, call->input("k") + key, call->input("v") + key,
                   call->output("out") + query, Lq, Lk, D, call->param("causal") != 0,
                   call->param("scale"));
  }
}
