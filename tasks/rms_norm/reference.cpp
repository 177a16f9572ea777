// Root mean square normalisation of each row, in float64.
#include <cmath>
#include <cstdint>

/// out[r][c] = x[r][c] / sqrt(mean_c(x[r][c]^2) + eps) * w[c]. x and out: [rows, cols]; w: [cols].
static void rms_norm_reference(const double* x, const double* w, double* out, int64_t rows,
                               int64_t cols, double eps) {
  for (int64_t r = 0; r < rows; ++r) {
    const double* in = x + r * cols;
    double* result = out + r * cols;
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += in[c] * in[c];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) result[c] = in[c] * scale * w[c];
  }
}

extern "C" void reference(const ks_reference* call) {
  const int64_t rows = call->axis("rows"), cols = call->axis("cols");
  const int64_t first = rows * call->part / call->parts;
  const int64_t last = rows * (call->part + 1) / call->parts;
  rms_norm_reference(call->input("x") + first * cols, call->input("w"),
                     call->output("out") + first * cols, last - first, cols, call->param("eps"));
}
