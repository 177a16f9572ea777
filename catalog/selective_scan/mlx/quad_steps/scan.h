/// log2(1 + 2^x), right for large |x|: softplus in base 2. EXACT: to float's precision for small 2^x
/// too, where 1 + 2^x rounds it away.
template <bool EXACT>
inline float softplus2(float x) {
  const float e = exp2(x);
  float s = log2(1.0f + e);
  if (EXACT) s = e < 0.01f ? e * (1.44269504f - e * (0.72134752f - e * 0.48089835f)) : s;
  return x > 24.0f ? x : s;
}

/// Four elements of a row from t on, the last one again past the end. WHOLE: what divides its length,
/// 32, 4 or 1; from 4 on, four of them lie in one aligned vector.
template <int WHOLE, class T>
inline float4 four(const device T* row, int t, int length) {
  if (WHOLE > 1)
    return float4(*(const device vec<T, 4>*)(row + (WHOLE == 4 ? min(t, length - 4) : t)));
  const int last = length - 1;
  return float4(row[min(t, last)], row[min(t + 1, last)], row[min(t + 2, last)], row[min(t + 3, last)]);
}

template <int WHOLE, class T>
inline void put_four(device T* row, int t, int length, float4 y) {
  if (WHOLE > 1) {
    if (WHOLE == 32 || t < length) *(device vec<T, 4>*)(row + t) = vec<T, 4>(y);
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (t + e < length) row[t + e] = T(y[e]);
}
