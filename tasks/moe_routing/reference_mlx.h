inline std::vector<mx::array> reference(const mx::array& logits, const mx::array& x, int64_t K) {
  const int chosen = static_cast<int>(K), tokens = logits.shape(0), pairs_count = tokens * chosen;
  // Of equal logits MLX promises no order; the task wants the smaller index first.
  const mx::array order =
      mx::slice(mx::argsort(mx::negative(logits), -1), {0, 0}, {tokens, chosen});
  const mx::array weights = mx::softmax(mx::take_along_axis(logits, order, -1), -1);
  const mx::array experts = mx::astype(order, mx::int32);
  const mx::array flat = mx::flatten(experts);
  const mx::array place = mx::astype(flat, mx::int64) * mx::array(int64_t{pairs_count}, mx::int64) +
                          mx::arange(pairs_count, mx::int64);
  const mx::array pairs = mx::astype(mx::argsort(place), mx::int32);
  const mx::array counts =
      mx::sum(mx::equal(mx::expand_dims(flat, 1), mx::arange(logits.shape(1))), 0);
  const mx::array offsets = mx::concatenate(
      {mx::zeros({1}, mx::int32), mx::astype(mx::cumsum(counts, 0), mx::int32)}, 0);
  const mx::array token = mx::floor_divide(pairs, mx::array(chosen));
  return {weights, experts, offsets, pairs, mx::take(x, token, 0)};
}
