// One row a group, as the definition says it.
extern "C" void @NAME@(const float* x, const float* w, float* out, int64_t cols, const ks_group* group) {
  x += group->id[0] * cols;
  double sum = 0;
  for (int64_t c = 0; c < cols; ++c) sum += x[c] * w[c];
  out[group->id[0]] = static_cast<float>(sum);
}
