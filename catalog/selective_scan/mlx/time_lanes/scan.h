/// log2(1 + 2^x), right for large |x|: softplus in base 2. EXACT: to float's precision for small 2^x
/// too, where 1 + 2^x rounds it away.
template <bool EXACT>
inline float softplus2(float x) {
  const float e = exp2(x);
  float s = log2(1.0f + e);
  if (EXACT) s = e < 0.01f ? e * (1.44269504f - e * (0.72134752f - e * 0.48089835f)) : s;
  return x > 24.0f ? x : s;
}

/// v[k] = from[row + t + k]. Past the end (only where not `whole`) the last step is read again.
template <int STEPS, typename P>
inline void load_steps(thread float* v, P from, int row, int t, int len, bool whole) {
  if (whole) {
#pragma unroll
    for (int k = 0; k < STEPS; ++k) v[k] = from[row + t + k];
  } else {
#pragma unroll
    for (int k = 0; k < STEPS; ++k) v[k] = from[row + min(t + k, len - 1)];
  }
}

/// Inclusive scan over the lanes of h -> decay h + input: (a, b) after (a', b') is (a a', a b' + b).
/// On return h is the state after this lane's steps; `decay` is used up.
inline void scan_lanes(float decay, thread float& h) {
#pragma unroll
  for (ushort by = 1; by < 32; by *= 2) {
    h = fma(decay, simd_shuffle_and_fill_up(h, 0.0f, by), h);
    if (by < 16) decay *= simd_shuffle_and_fill_up(decay, 1.0f, by);
  }
}
