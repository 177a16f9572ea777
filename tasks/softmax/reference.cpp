// Softmax of each row, in float64.
#include <algorithm>
#include <cmath>
#include <cstdint>

/// out[r][c] = exp(x[r][c] - max_r) / sum_c exp(x[r][c] - max_r). x and out: [rows, cols].
static void softmax_reference(const double* x, double* out, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const double* in = x + r * cols;
    double* result = out + r * cols;
    const double max = *std::max_element(in, in + cols);
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += result[c] = std::exp(in[c] - max);
    for (int64_t c = 0; c < cols; ++c) result[c] /= sum;
  }
}

extern "C" void reference(const ks_reference* call) {
  const int64_t rows = call->axis("rows"), cols = call->axis("cols");
  const int64_t first = rows * call->part / call->parts;
  const int64_t last = rows * (call->part + 1) / call->parts;
  softmax_reference(call->input("x") + first * cols, call->output("out") + first * cols,
                    last - first, cols);
}
