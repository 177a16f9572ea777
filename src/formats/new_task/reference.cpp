// The truth, in float64. Called once for each part, on several threads: part p of n does its share.
#include <cstdint>

extern "C" void reference(const ks_reference* call) {
  const int64_t rows = call->axis("rows"), cols = call->axis("cols");
  const double* x = call->input("x");
  const double* w = call->input("w");
  double* out = call->output("out");
  for (int64_t r = call->part; r < rows; r += call->parts) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += x[r * cols + c] * w[c];
    out[r] = sum;
  }
}
