inline mx::array reference(const mx::array& q, const mx::array& k, const mx::array& v,
                           const mx::array& lengths, float scale) {
  const auto wide = [&](const mx::array& x) {
    return mx::repeat(mx::astype(x, mx::float32), q.shape(1) / x.shape(1), 1);
  };
  const mx::array query = mx::expand_dims(mx::astype(q, mx::float32), -1);
  const mx::array scores = mx::array(scale) * mx::squeeze(mx::matmul(wide(k), query), -1);
  const mx::array seen = mx::arange(k.shape(2)) < mx::expand_dims(lengths, {1, 2});
  const mx::array weights = mx::softmax(
      mx::where(seen, scores, mx::array(-std::numeric_limits<float>::infinity())), -1);
  return mx::astype(mx::squeeze(mx::matmul(mx::expand_dims(weights, 2), wide(v)), 2), q.dtype());
}
