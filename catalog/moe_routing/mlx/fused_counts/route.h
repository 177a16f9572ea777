/// A SIMD-group's K largest of E logits in order, equal ones by index, and their softmax.
template <int E, int K>
struct TopK {
  float weight[K];
  int expert[K];

  template <typename P>
  void find(P logits, int row, int lane) thread {
    constexpr int kEach = (E + 31) / 32;
    float v[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = lane + 32 * i < E ? logits[row + lane + 32 * i] : -INFINITY;
    float total = 0.0f;
#pragma unroll
    for (int c = 0; c < K; ++c) {
      float best = -INFINITY;
      int at = E;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int e = lane + 32 * i;
        const bool left = c == 0 || v[i] < weight[c - 1] || (v[i] == weight[c - 1] && e > expert[c - 1]);
        if (e < E && left && (at == E || v[i] > best)) {
          best = v[i];
          at = e;
        }
      }
      weight[c] = simd_max(best);
      expert[c] = simd_min(best == weight[c] ? at : E);
      total += exp(weight[c] - weight[0]);
    }
    const float scale = 1.0f / total, first = weight[0];
#pragma unroll
    for (int c = 0; c < K; ++c) weight[c] = exp(weight[c] - first) * scale;
  }
};
