inline mx::array reference(const mx::array& x, const mx::array& w, float eps) {
  const mx::array wide = mx::astype(x, mx::float32);
  const mx::array mean = mx::mean(wide * wide, -1, /*keepdims=*/true);
  return mx::astype(wide * mx::rsqrt(mean + mx::array(eps)) * mx::astype(w, mx::float32),
                    x.dtype());
}
