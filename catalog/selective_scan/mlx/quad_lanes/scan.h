/// log2(1 + 2^x), right for large |x|: softplus in base 2. EXACT: to float's precision for small 2^x
/// too, where 1 + 2^x rounds it away.
template <bool EXACT>
inline float softplus2(float x) {
  const float e = exp2(x);
  float s = log2(1.0f + e);
  if (EXACT) s = e < 0.01f ? e * (1.44269504f - e * (0.72134752f - e * 0.48089835f)) : s;
  return x > 24.0f ? x : s;
}

/// Sums over LANES neighbours: v[k] of all of them, added, goes to lane k of them. Each exchange
/// halves the values that are left: LANES - 1 shuffles.
template <int LANES, int SIZE>
inline float sum_transposed(thread float (&v)[SIZE], uint lane) {
  constexpr int kHalf = LANES / 2;
  const bool upper = lane & kHalf;
#pragma unroll
  for (int k = 0; k < kHalf; ++k) {
    const float low = v[k], high = v[k + kHalf];
    v[k] = (upper ? high : low) + simd_shuffle_xor(upper ? low : high, kHalf);
  }
  if constexpr (kHalf > 1)
    return sum_transposed<kHalf>(v, lane);
  else
    return v[0];
}
