// Attention of one query a sequence over its first `lengths` keys, in float64, as the definition says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// q, out: [B, H, D]; k, v: [B, Hkv, Lmax, D]; lengths: [B].
extern "C" void reference(const ks_reference* call) {
  const int64_t H = call->axis("H"), Hkv = call->axis("Hkv"), Lmax = call->axis("Lmax"),
                D = call->axis("D");
  const double scale = call->param("scale");
  std::vector<double> score(static_cast<size_t>(Lmax));
  for (int64_t head = call->part; head < call->axis("B") * H; head += call->parts) {
    const int64_t b = head / H, kv = b * Hkv + head % H / (H / Hkv);
    const double* q = call->input("q") + head * D;
    const double* k = call->input("k") + kv * Lmax * D;
    const double* v = call->input("v") + kv * Lmax * D;
    double* out = call->output("out") + head * D;
    const auto length = static_cast<int64_t>(call->input("lengths")[b]);
    for (int64_t j = 0; j < length; ++j) {
      double sum = 0;
      for (int64_t d = 0; d < D; ++d) sum += q[d] * k[j * D + d];
      score[static_cast<size_t>(j)] = scale * sum;
    }
    const double max = *std::max_element(score.begin(), score.begin() + length);
    double total = 0;
    std::fill_n(out, D, 0.0);
    for (int64_t j = 0; j < length; ++j) {
      const double p = std::exp(score[static_cast<size_t>(j)] - max);
      total += p;
      for (int64_t d = 0; d < D; ++d) out[d] += p * v[j * D + d];
    }
    for (int64_t d = 0; d < D; ++d) out[d] /= total;
  }
}
