// One thread a token: K times the largest logit after the last one taken.
const int n = thread_position_in_grid.x;
if (n >= N) return;
float last = INFINITY, first = 0.0f, total = 0.0f;
int taken = -1;
for (int c = 0; c < K; ++c) {
  float best = 0.0f;
  int at = -1;
  for (int e = 0; e < E; ++e) {
    const float v = logits[n * E + e];
    const bool left = v < last || (v == last && e > taken);
    if (left && (at < 0 || v > best)) {
      best = v;
      at = e;
    }
  }
  if (c == 0) first = best;
  last = best;
  taken = at;
  experts[n * K + c] = at;
  total += exp(best - first);
}
for (int c = 0; c < K; ++c) {
  const int e = experts[n * K + c];
  weights[n * K + c] = exp(logits[n * E + e] - first) / total;
}
