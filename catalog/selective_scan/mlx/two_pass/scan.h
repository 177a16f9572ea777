/// log2(1 + 2^x), right for large |x|: softplus in base 2. EXACT: to float's precision for small 2^x
/// too, where 1 + 2^x rounds it away.
template <bool EXACT>
inline float softplus2(float x) {
  const float e = exp2(x);
  float s = log2(1.0f + e);
  if (EXACT) s = e < 0.01f ? e * (1.44269504f - e * (0.72134752f - e * 0.48089835f)) : s;
  return x > 24.0f ? x : s;
}
