// Routing of a mixture of experts, as the definition says; weights in float64. Sorting is over all
// tokens, so that the first part does it alone; rows are gathered there too.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

/// logits: [N, E]; x: [N, W]; weights, experts: [N, K]; offsets: [E + 1]; pairs: [N K];
/// gathered: [N K, W].
extern "C" void reference(const ks_reference* call) {
  if (call->part != 0) return;
  const int64_t N = call->axis("N"), E = call->axis("E"), K = call->axis("K"), W = call->axis("W");
  double* weights = call->output("weights");
  double* experts = call->output("experts");
  double* offsets = call->output("offsets");
  double* pairs = call->output("pairs");
  std::vector<int64_t> order(static_cast<size_t>(E)), count(static_cast<size_t>(E) + 1);
  for (int64_t n = 0; n < N; ++n) {
    const double* row = call->input("logits") + n * E;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return row[a] > row[b]; });
    double total = 0;
    for (int64_t c = 0; c < K; ++c) {
      const int64_t e = order[static_cast<size_t>(c)];
      experts[n * K + c] = static_cast<double>(e);
      total += weights[n * K + c] = std::exp(row[e] - row[order[0]]);
      ++count[static_cast<size_t>(e) + 1];
    }
    for (int64_t c = 0; c < K; ++c) weights[n * K + c] /= total;
  }
  for (size_t e = 0; e < static_cast<size_t>(E); ++e) count[e + 1] += count[e];
  for (size_t e = 0; e <= static_cast<size_t>(E); ++e) offsets[e] = static_cast<double>(count[e]);
  for (int64_t p = 0; p < N * K; ++p) {
    const int64_t at = count[static_cast<size_t>(experts[p])]++;
    pairs[at] = static_cast<double>(p);
    std::copy_n(call->input("x") + p / K * W, W, call->output("gathered") + at * W);
  }
}
