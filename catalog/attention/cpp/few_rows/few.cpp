// Attention of at most FEW rows of queries that share a head of k and v, as when a token is
// decoded. Elements of the head lie in the lanes, so that k and v are read once, by whole vectors,
// in order; of the scores, which are sums across lanes, LANES are finished at a time. Comes after
// attention.cpp, whose vectors it uses.
#ifdef FEW  // a power of two, at most LANES
namespace {

constexpr int kFewKeys = LANES / FEW;  // keys whose scores fill a vector: lane = key * FEW + row
constexpr int kStrip = FEW <= 2 ? 8 : 16 / FEW;  // vectors of a row of v that are summed at once

/// The sum of the lanes of a[i] in lane i: each round halves the vectors.
INLINE Vec lane_sums(Vec (&a)[LANES]) {
  constexpr std::make_integer_sequence<int, LANES> kLanes;
  for (int n = LANES / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i)
      a[i] = interleave(a[i], a[i + n], false, kLanes) + interleave(a[i], a[i + n], true, kLanes);
  return a[0];
}

/// Scores of kFewKeys keys, `keys` of which are there; q: [FEW][width], zeros after D.
INLINE Vec few_scores(const T* k, int64_t keys, const float* q, int64_t width, int64_t D) {
  const T* row[kFewKeys];
  for (int i = 0; i < kFewKeys; ++i) row[i] = k + std::min<int64_t>(i, keys - 1) * D;
  Vec sum[LANES] = {};
  for (int64_t d = 0; d < D; d += LANES) {
    Vec x[kFewKeys];
    for (int i = 0; i < kFewKeys; ++i) x[i] = load(row[i] + d, D - d);
    for (int r = 0; r < FEW; ++r) {
      const Vec y = load(q + r * width + d);
      for (int i = 0; i < kFewKeys; ++i) sum[i * FEW + r] += x[i] * y;
    }
  }
  return lane_sums(sum);
}

/// o += p v for `keys` keys and N vectors of elements, of which `count` are there.
template <int N>
INLINE void few_values(const T* v, int64_t count, int64_t D, const float* p, int64_t keys, float* o,
                       int64_t width) {
  Vec sum[FEW][N];
  for (int r = 0; r < FEW; ++r)
    for (int i = 0; i < N; ++i) sum[r][i] = load(o + r * width + i * LANES);
  for (int64_t j = 0; j < keys; ++j) {
    Vec x[N];
    for (int i = 0; i < N; ++i) x[i] = load(v + j * D + i * LANES, count - i * LANES);
    for (int r = 0; r < FEW; ++r) {
      const Vec e = all(p[j * FEW + r]);
      for (int i = 0; i < N; ++i) sum[r][i] += e * x[i];
    }
  }
  for (int r = 0; r < FEW; ++r)
    for (int i = 0; i < N; ++i) store(o + r * width + i * LANES, sum[r][i]);
}

/// The largest (or the sum) of the lanes of each row, in all its lanes.
template <class F>
INLINE Vec over_keys(Vec x, F combine) {
  for (int i = FEW; i < LANES; ++i) x[i % FEW] = combine(x[i % FEW], x[i]);
  for (int i = FEW; i < LANES; ++i) x[i] = x[i % FEW];
  return x;
}

}  // namespace

extern "C" void few_rows(const T* q, const T* k, const T* v, T* out, int64_t Lq, int64_t Lk,
                         int64_t D, int64_t heads, bool causal, float scale,
                         const ks_group* group) {
  const int64_t head = group->id[0], count = Lq * heads, width = (D + LANES - 1) / LANES * LANES;
  q += head * count * D;
  out += head * count * D;
  k += head * Lk * D;
  v += head * Lk * D;
  float* queries = static_cast<float*>(group->memory);  // [FEW][width]
  float* o = queries + FEW * width;                     // [FEW][width]
  float* p = o + FEW * width;                           // [BK][FEW]
  std::fill_n(queries, 2 * FEW * width, 0.0f);

  Ints seen, key_of;
  for (int i = 0; i < LANES; ++i) {
    const int64_t row = std::min<int64_t>(i % FEW, count - 1);  // head * Lq + query
    seen[i] = static_cast<int32_t>(causal ? row % Lq + Lk - Lq + 1 : Lk);
    key_of[i] = i / FEW;
  }
  for (int64_t r = 0; r < count; ++r)
    for (int64_t d = 0; d < D; ++d) queries[r * width + d] = float(q[r * D + d]) * (scale * kLog2e);

  Vec max = all(-INFINITY), sum{};
  for (int64_t key = 0; key < Lk; key += BK) {
    const int64_t keys = std::min<int64_t>(BK, Lk - key);
    Vec top = max;
    for (int64_t j = 0; j < keys; j += kFewKeys) {
      // Both come from memory: v while nobody waits for it, k some keys ahead.
      for (int64_t d = 0; d < kFewKeys * D; d += 64 / sizeof(T)) {
        __builtin_prefetch(v + (key + j) * D + d, 0, 2);
        __builtin_prefetch(k + (key + j + 4 * kFewKeys) * D + d);
      }
      Vec s = few_scores(k + (key + j) * D, keys - j, queries, width, D);
      s = seen - key_of > static_cast<int32_t>(key + j) ? s : all(-INFINITY);
      store(p + j * FEW, s);
      top = larger(s, top);
    }
    top = over_keys(top, [](float a, float b) { return a > b ? a : b; });
    const Vec factor = exp2(max - top);
    max = top;
    sum *= factor;
    for (int64_t j = 0; j < keys; j += kFewKeys) {
      const Vec e = exp2(load(p + j * FEW) - max);
      sum += e;
      store(p + j * FEW, e);
    }
    for (int64_t r = 0; r < FEW; ++r)
      for (int64_t d = 0; d < width; d += LANES)
        store(o + r * width + d, load(o + r * width + d) * factor[r]);
    int64_t d = 0;
    for (; d + kStrip * LANES <= D; d += kStrip * LANES)
      few_values<kStrip>(v + key * D + d, kStrip * LANES, D, p, keys, o + d, width);
    for (; d < D; d += LANES) few_values<1>(v + key * D + d, D - d, D, p, keys, o + d, width);
  }
  sum = over_keys(sum, [](float a, float b) { return a + b; });
  for (int64_t r = 0; r < count; ++r)
    for (int64_t d = 0; d < D; ++d) out[r * D + d] = o[r * width + d] / sum[r];
}
#endif  // FEW
