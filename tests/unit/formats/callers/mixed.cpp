// Knows nothing of ksearch: calls the exported functions of three element types and compares with a
// plain loop; bfloat16 and float16 are converted here by hand.
#include "mixed.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static float from_bf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
static uint16_t to_bf16(float value) {  // of small integers, which are exact
  uint32_t wide;
  std::memcpy(&wide, &value, 4);
  return static_cast<uint16_t>(wide >> 16);
}
static float from_f16(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return static_cast<float>(h);
}
static uint16_t to_f16(float value) {
  const _Float16 h = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits;
}
static float same(float value) { return value; }

template <class T, class Function, class To, class From>
static bool agrees(Function function, To to, From from, double tolerance, int64_t rows,
                   int64_t cols, bool with_bias, bool square, int threads, void* workspace) {
  std::vector<T> x(rows * cols), out(rows * cols);
  std::vector<float> bias(cols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = to(static_cast<float>((i * 31) % 7));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 3);
  const int status = function(x.data(), with_bias ? bias.data() : nullptr, out.data(), rows, cols,
                              1.5f, square, threads, workspace);
  if (status != MIXED_OK) return std::printf("status %d\n", status), false;
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 1;
    for (int64_t c = 0; c < cols; ++c) sum += from(x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) {
      double want = (from(x[r * cols + c]) + (with_bias ? bias[c] : 0.0)) * 1.5 / sum;
      if (square) want *= want;
      const double got = from(out[r * cols + c]);
      if (std::fabs(got - want) > tolerance * std::fabs(want) + 1e-7)
        return std::printf("%d %d: %g, wanted %g\n", static_cast<int>(r), static_cast<int>(c), got,
                           want),
               false;
    }
  }
  return true;
}

int main() {
  const size_t bytes = mixed_f32_workspace(9, 40, 1.5f, true, true, 3);
  if (bytes == 0) return std::puts("no workspace"), 1;
  std::vector<char> workspace(bytes);
  for (const bool square : {true, false})
    for (const bool bias : {true, false})
      for (const int threads : {1, 3}) {
        if (!agrees<float>(mixed_f32, same, same, 1e-5, 9, 40, bias, square, threads,
                           workspace.data()) ||
            !agrees<float>(mixed_f32, same, same, 1e-5, 4, 33, bias, square, threads, nullptr) ||
            !agrees<uint16_t>(mixed_bf16, to_bf16, from_bf16, 2e-2, 9, 33, bias, square, threads,
                              nullptr) ||
            !agrees<uint16_t>(mixed_f16, to_f16, from_f16, 3e-3, 4, 40, bias, square, threads,
                              nullptr))
          return 1;
      }
  // 34 columns: no copy of the kernels was made for it. One column: the task's own constraint.
  float one[34] = {};
  if (mixed_f32(one, nullptr, one, 1, 34, 1.0f, true, 1, nullptr) != MIXED_UNSUPPORTED)
    return std::puts("34"), 1;
  if (mixed_f32(one, nullptr, one, 1, 1, 1.0f, false, 1, nullptr) != MIXED_UNSUPPORTED)
    return std::puts("1"), 1;
  if (mixed_f32_workspace(1, 34, 1.0f, true, false, 1) != 0) return std::puts("workspace"), 1;
  std::puts("ok");
}
