// One thread a query head: scores against all keys, softmax on the way.
const int head = thread_position_in_grid.x;
if (head >= S * H) return;
const int b = head / H, kv = head % H / (H / Hkv);
const int pages = indptr[b];  // where the sequence's stand in `indices`
const int length = (indptr[b + 1] - pages - 1) * P + last_page_len[b];
float sums[D];
for (int d = 0; d < D; ++d) sums[d] = 0.0f;
float top = -INFINITY, total = 0.0f;
for (int j = 0; j < length; ++j) {
  const int row = ((indices[pages + j / P] * P + j % P) * Hkv + kv) * D;
  float score = 0.0f;
  for (int d = 0; d < D; ++d) score += float(q[head * D + d]) * float(k_cache[row + d]);
  score *= scale;
  const float higher = max(top, score), keep = exp(top - higher), p = exp(score - higher);
  total = total * keep + p;
  for (int d = 0; d < D; ++d) sums[d] = sums[d] * keep + p * float(v_cache[row + d]);
  top = higher;
}
for (int d = 0; d < D; ++d) out[head * D + d] = T(sums[d] / total);
