// Decoding attention over a paged cache, in float64, as the definition says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// q, out: [S, H, D]; k_cache, v_cache: [pages, P, Hkv, D]; indptr: [S + 1]; indices: [used];
/// last_page_len: [S].
extern "C" void reference(const ks_reference* call) {
  const int64_t H = call->axis("H"), Hkv = call->axis("Hkv"), D = call->axis("D"),
                P = call->axis("P");
  const double scale = call->param("scale");
  const double* indices = call->input("indices");
  std::vector<double> score;
  for (int64_t head = call->part; head < call->axis("S") * H; head += call->parts) {
    const int64_t s = head / H, kv = head % H / (H / Hkv);
    const double* q = call->input("q") + head * D;
    double* out = call->output("out") + head * D;
    const auto first = static_cast<int64_t>(call->input("indptr")[s]);
    const auto last = static_cast<int64_t>(call->input("indptr")[s + 1]);
    const int64_t length =
        (last - first - 1) * P + static_cast<int64_t>(call->input("last_page_len")[s]);
    const auto row = [&](int64_t j) {  // of token j in either cache
      return ((static_cast<int64_t>(indices[first + j / P]) * P + j % P) * Hkv + kv) * D;
    };
    score.assign(static_cast<size_t>(length), 0.0);
    for (int64_t j = 0; j < length; ++j) {
      const double* k = call->input("k_cache") + row(j);
      double sum = 0;
      for (int64_t d = 0; d < D; ++d) sum += q[d] * k[d];
      score[static_cast<size_t>(j)] = scale * sum;
    }
    const double max = *std::max_element(score.begin(), score.end());
    double total = 0;
    std::fill_n(out, D, 0.0);
    for (int64_t j = 0; j < length; ++j) {
      const double* v = call->input("v_cache") + row(j);
      const double p = std::exp(score[static_cast<size_t>(j)] - max);
      total += p;
      for (int64_t d = 0; d < D; ++d) out[d] += p * v[d];
    }
    for (int64_t d = 0; d < D; ++d) out[d] /= total;
  }
}
