inline mx::array reference(const mx::array& q, const mx::array& k, const mx::array& v, bool causal,
                           float scale) {
  const auto wide = [&](const mx::array& x) {
    return mx::repeat(mx::astype(x, mx::float32), q.shape(1) / x.shape(1), 1);
  };
  mx::array scores = mx::array(scale) *
                     mx::matmul(mx::astype(q, mx::float32), mx::swapaxes(wide(k), -1, -2));
  if (causal) {
    const int queries = q.shape(2), keys = k.shape(2);
    const mx::array last = mx::expand_dims(mx::arange(keys - queries, keys), 1);
    scores = mx::where(mx::arange(keys) <= last, scores,
                       mx::array(-std::numeric_limits<float>::infinity()));
  }
  return mx::astype(mx::matmul(mx::softmax(scores, -1), wide(v)), q.dtype());
}
