/// log2(1 + 2^x), right for large |x|: softplus in base 2. EXACT: to float's precision for small 2^x
/// too, where 1 + 2^x rounds it away.
template <bool EXACT>
inline float softplus2(float x) {
  const float e = exp2(x);
  float s = log2(1.0f + e);
  if (EXACT) s = e < 0.01f ? e * (1.44269504f - e * (0.72134752f - e * 0.48089835f)) : s;
  return x > 24.0f ? x : s;
}

/// Sums over 2 or 4 neighbours: component k of all of them, added, goes to lane k of them. Each
/// exchange halves the values that are left.
inline float sum_transposed(float2 v, uint lane) {
  const bool upper = lane & 1;
  return (upper ? v.y : v.x) + simd_shuffle_xor(upper ? v.x : v.y, 1);
}
inline float sum_transposed(float4 v, uint lane) {
  const bool upper = lane & 2;
  const float first = (upper ? v.z : v.x) + simd_shuffle_xor(upper ? v.x : v.z, 2);
  const float second = (upper ? v.w : v.y) + simd_shuffle_xor(upper ? v.y : v.w, 2);
  return sum_transposed(float2(first, second), lane);
}
