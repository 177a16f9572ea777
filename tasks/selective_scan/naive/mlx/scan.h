/// log(1 + exp(x)), right for large |x|.
inline float softplus(float x) {
  const float e = exp(-abs(x));
  // log(1 + e) loses what 1 + e rounds away; for small e the series does not.
  return max(x, 0.0f) + (e < 0.01f ? e * (1.0f - e * (0.5f - e * 0.33333333f)) : log(1.0f + e));
}
