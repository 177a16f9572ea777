inline mx::array reference(const mx::array& q, const mx::array& k_cache, const mx::array& v_cache,
                           const mx::array& indptr, const mx::array& indices,
                           const mx::array& last_page_len, float scale) {
  const int group = q.shape(1) / k_cache.shape(2), page = k_cache.shape(1);
  std::vector<mx::array> outputs;
  for (int s = 0; s < q.shape(0); ++s) {
    const auto at = [](const mx::array& list, int i) {
      return mx::take(list, mx::array(i)).item<int32_t>();
    };
    const int first = at(indptr, s), last = at(indptr, s + 1);
    const int keys = (last - first - 1) * page + at(last_page_len, s);
    const mx::array pages = mx::slice(indices, {first}, {last});
    const auto wide = [&](const mx::array& cache) {  // [keys, H, D]
      const mx::array tokens = mx::flatten(mx::take(cache, pages, 0), 0, 1);
      const mx::array held =
          mx::slice(tokens, {0, 0, 0}, {keys, tokens.shape(1), tokens.shape(2)});
      return mx::repeat(mx::astype(held, mx::float32), group, 1);
    };
    const mx::array query = mx::astype(mx::take(q, mx::array(s), 0), mx::float32);
    const mx::array scores = mx::array(scale) * mx::sum(wide(k_cache) * query, -1);
    const mx::array weights = mx::expand_dims(mx::softmax(scores, 0), -1);
    outputs.push_back(mx::sum(weights * wide(v_cache), 0));
  }
  return mx::astype(mx::stack(outputs), q.dtype());
}
