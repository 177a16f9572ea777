inline mx::array reference(const mx::array& u, const mx::array& delta, const mx::array& A,
                           const mx::array& B, const mx::array& C, bool delta_softplus,
                           const std::optional<mx::array>& D = std::nullopt,
                           const std::optional<mx::array>& z = std::nullopt,
                           const std::optional<mx::array>& delta_bias = std::nullopt) {
  const mx::array x = mx::astype(u, mx::float32);
  mx::array dt = mx::astype(delta, mx::float32);
  if (delta_bias) dt = dt + mx::expand_dims(*delta_bias, 1);
  if (delta_softplus) dt = mx::logaddexp(dt, mx::array(0.0F));
  const auto at = [](const mx::array& series, int t) {
    return mx::take(mx::astype(series, mx::float32), mx::array(t), 2);
  };
  mx::array h = mx::zeros({u.shape(0), A.shape(0), A.shape(1)});
  std::vector<mx::array> outputs;
  for (int t = 0; t < u.shape(2); ++t) {
    const mx::array step = mx::expand_dims(at(dt, t), -1);
    h = mx::exp(step * A) * h +
        step * mx::expand_dims(at(B, t), 1) * mx::expand_dims(at(x, t), -1);
    outputs.push_back(mx::sum(h * mx::expand_dims(at(C, t), 1), -1));
  }
  mx::array y = mx::stack(outputs, -1);
  if (D) y = y + mx::expand_dims(*D, 1) * x;
  if (z) y = y * mx::astype(*z, mx::float32) * mx::sigmoid(mx::astype(*z, mx::float32));
  return mx::astype(y, u.dtype());
}
