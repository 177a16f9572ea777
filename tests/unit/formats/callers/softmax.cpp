// Knows nothing of ksearch: calls the exported softmax and compares with a plain loop.
#include "softmax.h"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  for (const int threads : {1, 2, 7}) {
    const int64_t rows = 13, cols = 37;
    std::vector<float> x(rows * cols), out(rows * cols, -1.0f);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 7919) % 101) / 10.0f - 5.0f;
    const int status = softmax_f32(x.data(), out.data(), rows, cols, threads, nullptr);
    if (status != SOFTMAX_OK) return std::printf("status %d\n", status), 1;
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x[r * cols + c]));
      for (int64_t c = 0; c < cols; ++c) {
        const double want = std::exp(static_cast<double>(x[r * cols + c])) / sum;
        if (std::fabs(out[r * cols + c] - want) > 1e-5 * want)
          return std::printf("row %d column %d: %g, wanted %g\n", static_cast<int>(r),
                             static_cast<int>(c), out[r * cols + c], want),
                 1;
      }
    }
  }
  float one = 0;
  if (softmax_f32(&one, &one, 0, 4, 1, nullptr) != SOFTMAX_UNSUPPORTED)
    return std::puts("zero rows"), 1;
  if (softmax_f32(nullptr, &one, 1, 1, 1, nullptr) != SOFTMAX_NULL_POINTER)
    return std::puts("null"), 1;
  std::puts("ok");
}
