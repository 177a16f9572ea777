/// `count` neighbours from `at` on.
template <int COUNT, typename P>
inline void load(thread float* v, P from, int at) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) v[i] = from[at + i];
}

/// Sum over LANES neighbouring lanes, for all of them.
template <int LANES>
inline float sum_lanes(float v) {
#pragma unroll
  for (ushort by = LANES / 2; by > 0; by /= 2) v += simd_shuffle_xor(v, by);
  return v;
}

/// v holds neighbours that end at D - 1 where [d0, d0 + COUNT) would not: moves them to their places
/// and makes the others 0.
template <int COUNT>
inline void shift_tail(thread float* v, int d0, int D) {
  const int by = max(d0 - (D - COUNT), 0);
  if (by == 0) return;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    float moved = 0.0f;
#pragma unroll
    for (int j = i + 1; j < COUNT; ++j) moved = j == i + by ? v[j] : moved;
    v[i] = moved;
  }
}
