// Float64 truth of the Mamba-1 selective scan: the recurrence as it is written, one channel and one
// state at a time.
#include <cmath>
#include <cstdint>
#include <vector>

/// log(1 + exp(x)), right for large |x|.
static double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

/// Channels [first, last) of the batch * dim there are. Shapes: u, delta, z, out [batch, dim, len];
/// A [dim, state]; B, C [batch, state, len]; D, delta_bias [dim]; all row-major. D, z and
/// delta_bias may be null.
static void selective_scan(const double* u, const double* delta, const double* A, const double* B,
                           const double* C, const double* D, const double* z,
                           const double* delta_bias, double* out, int64_t first, int64_t last,
                           int64_t dim, int64_t state, int64_t len, bool delta_softplus) {
  std::vector<double> dt(len);
  for (int64_t channel = first; channel < last; channel++) {
    const int64_t b = channel / dim, d = channel % dim, row = channel * len;
    for (int64_t t = 0; t < len; t++) {
      const double x = delta[row + t] + (delta_bias ? delta_bias[d] : 0.0);
      dt[t] = delta_softplus ? softplus(x) : x;
      out[row + t] = D ? D[d] * u[row + t] : 0.0;
    }
    for (int64_t n = 0; n < state; n++) {
      const double* Bn = B + (b * state + n) * len;
      const double* Cn = C + (b * state + n) * len;
      double h = 0.0;
      for (int64_t t = 0; t < len; t++) {
        h = std::exp(dt[t] * A[d * state + n]) * h + dt[t] * Bn[t] * u[row + t];
        out[row + t] += Cn[t] * h;
      }
    }
    if (z)
      for (int64_t t = 0; t < len; t++) out[row + t] *= z[row + t] / (1.0 + std::exp(-z[row + t]));
  }
}

extern "C" void reference(const ks_reference* call) {
  const int64_t channels = call->axis("batch") * call->axis("dim");
  selective_scan(call->input("u"), call->input("delta"), call->input("A"), call->input("B"),
                 call->input("C"), call->input("D"), call->input("z"), call->input("delta_bias"),
                 call->output("out"), channels * call->part / call->parts,
                 channels * (call->part + 1) / call->parts, call->axis("dim"), call->axis("state"),
                 call->axis("len"), call->param("delta_softplus") != 0);
}
