// Scaled dot-product attention with grouped query heads, in float64.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// One query head. q, out: [Lq, D]; k, v: [Lk, D]. Causal is aligned to the end: query i sees keys
/// j <= i + Lk - Lq.
static void attention_head_reference(const double* q, const double* k, const double* v, double* out,
                                     int64_t Lq, int64_t Lk, int64_t D, bool causal, double scale) {
  // Transposed, so that the loop over keys is the inner one and needs no reordering of a sum.
  std::vector<double> kt(static_cast<size_t>(D * Lk));
  for (int64_t j = 0; j < Lk; ++j)
    for (int64_t d = 0; d < D; ++d) kt[static_cast<size_t>(d * Lk + j)] = k[j * D + d];

  std::vector<double> score(static_cast<size_t>(Lk));
  for (int64_t i = 0; i < Lq; ++i) {
    const int64_t seen = causal ? i + Lk - Lq + 1 : Lk;
    double* s = score.data();
    std::fill_n(s, seen, 0.0);
    for (int64_t d = 0; d < D; ++d) {
      const double factor = scale * q[i * D + d];
      const double* row = kt.data() + d * Lk;
      for (int64_t j = 0; j < seen; ++j) s[j] += factor * row[j];
    }
    const double max = *std::max_element(s, s + seen);
    double sum = 0;
    double* result = out + i * D;
    std::fill_n(result, D, 0.0);
    for (int64_t j = 0; j < seen; ++j) {
      const double weight = std::exp(s[j] - max);
      sum += weight;
      for (int64_t d = 0; d < D; ++d) result[d] += weight * v[j * D + d];
    }
    for (int64_t d = 0; d < D; ++d) result[d] /= sum;
  }
}

/// q, out: [B, H, Lq, D]; k, v: [B, Hkv, Lk, D]. Query head h reads head h / (H / Hkv).
extern "C" void reference(const ks_reference* call) {
  const int64_t H = call->axis("H"), Hkv = call->axis("Hkv");
  const int64_t Lq = call->axis("Lq"), Lk = call->axis("Lk"), D = call->axis("D");
  for (int64_t head = call->part; head < call->axis("B") * H; head += call->parts) {
    const int64_t query = head * Lq * D;
    const int64_t key = (head / H * Hkv + head % H / (H / Hkv)) * Lk * D;
    attention_head_reference(call->input("q") + query, call->input("k") + key,
                             call->input("v") + key, call->output("out") + query, Lq, Lk, D,
                             call->param("causal") != 0, call->param("scale"));
  }
}
