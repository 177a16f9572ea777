#include "target/metal/mlx_self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "target/metal/mlx_device.h"

namespace ksearch::target {
namespace {
using kernel::DType;

constexpr std::int64_t kRows = 8, kColumns = 96;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> floats_of(const MlxTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// Small whole numbers: sums of them are exact.
std::vector<float> numbers() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i)
    values.push_back(static_cast<float>((i * 37) % 17 - 8));
  return values;
}

MlxTensor matrix() { return {"x", DType::float32, {kRows, kColumns}, bytes_of(numbers())}; }

std::vector<float> row_sums() {
  const std::vector<float> x = numbers();
  std::vector<float> sums(kRows);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / kColumns] += x[i];
  return sums;
}

std::vector<float> softmax() {
  const std::vector<float> x = numbers();
  std::vector<float> result(x.size());
  for (std::size_t row = 0; row < x.size(); row += kColumns) {
    double sum = 0;
    for (std::size_t c = row; c < row + kColumns; ++c) sum += std::exp(double{x[c]});
    for (std::size_t c = row; c < row + kColumns; ++c)
      result[c] = static_cast<float>(std::exp(double{x[c]}) / sum);
  }
  return result;
}

std::string difference(std::span<const float> got, std::span<const float> want, double tolerance) {
  if (got.size() != want.size())
    return fmt::format("{} elements came back, {} are meant", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(double{got[i]} - double{want[i]}) <= tolerance))
      return fmt::format("element {} is {}, {} is meant", i, got[i], want[i]);
  return {};
}

MlxCheck check(std::string name, const MlxWork& work, const MlxTiming& timing,
               std::span<const float> want, double tolerance) {
  using State = MlxCheck::State;
  const auto answer = run_on_mlx(work, timing);
  if (!answer) return {std::move(name), State::failed, answer.error().text()};
  std::string wrong = difference(floats_of(answer->outputs[0]), want, tolerance);
  if (!wrong.empty()) return {std::move(name), State::failed, std::move(wrong)};
  if (answer->seconds.empty()) return {std::move(name), State::passed, {}};
  std::vector<double> times = answer->seconds;
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return {std::move(name), State::passed,
          fmt::format("{:.2f} us a call, median of {}, {} calls together",
                      times[times.size() / 2] * 1e6, times.size(), timing.copies)};
}

constexpr MlxTiming kOnce{}, kTimed{.warm_up = 3, .samples = 11, .copies = 50};

MlxWork native_softmax(MlxPlace place) {
  return {.inputs = {matrix()},
          .kernels = {},
          .what = MlxNative{.what = MlxOperation::softmax},
          .outputs = {},
          .place = place};
}

/// A SIMD-group a row, then the sums doubled: template arguments, a number, an array between two
/// launches.
MlxWork two_launches() {
  MlxKernel row_sum{"row_sum", {}}, doubled{"twice", {}};
  row_sum.source =
      "uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;\n"
      "T sum = 0;\n"
      "for (uint c = lane; c < uint(columns); c += WIDTH) sum += x[row * columns + c];\n"
      "sum = simd_sum(sum);\n"
      "if (lane == 0) part[row] = sum;\n";
  doubled.source = "uint i = thread_position_in_grid.x;\nout[i] = 2 * part[i];\n";
  MlxLaunch sum{.kernel = 0};
  sum.inputs = {"x", "columns"};
  sum.outputs = {{"part", DType::float32, {kRows}, {}}};
  sum.threads = {kRows * 32, 1, 1};
  sum.group_size = {32, 1, 1};
  sum.arguments = {{"T", DType::float32}, {"WIDTH", 32}};
  MlxLaunch twice{.kernel = 1};
  twice.inputs = {"part"};
  twice.outputs = {{"out", DType::float32, {kRows}, {}}};
  twice.threads = {kRows, 1, 1};
  twice.group_size = {kRows, 1, 1};
  const std::vector<std::int32_t> columns{kColumns};
  return {.inputs = {matrix(), {"columns", DType::int32, {}, bytes_of(columns)}},
          .kernels = {row_sum, doubled},
          .what = std::vector{sum, twice},
          .outputs = {"out"}};
}

/// Every thread adds to its row's element, which starts as 1.
MlxWork atomics() {
  MlxKernel kernel{"add_up", {}};
  kernel.atomic_outputs = true;
  kernel.source =
      "uint i = thread_position_in_grid.x;\n"
      "atomic_fetch_add_explicit(&out[i / x_shape[1]], x[i], memory_order_relaxed);\n";
  MlxLaunch launch{.kernel = 0};
  launch.inputs = {"x"};
  launch.outputs = {{"out", DType::float32, {kRows}, {}}};
  launch.init = 1.0F;
  launch.threads = {kRows * kColumns, 1, 1};
  launch.group_size = {64, 1, 1};
  return {
      .inputs = {matrix()}, .kernels = {kernel}, .what = std::vector{launch}, .outputs = {"out"}};
}

}  // namespace

std::string_view name(MlxCheck::State state) {
  switch (state) {
    case MlxCheck::State::passed:
      return "passed";
    case MlxCheck::State::failed:
      return "failed";
    case MlxCheck::State::skipped:
      break;
  }
  return "skipped";
}

std::vector<MlxCheck> mlx_self_test() {
  const MlxState state = mlx_state();
  std::vector<MlxCheck> checks;
  const auto add = [&](bool possible, const char* name, const char* why, const MlxWork& work,
                       const MlxTiming& timing, std::span<const float> want, double tolerance) {
    checks.push_back(possible ? check(name, work, timing, want, tolerance)
                              : MlxCheck{name, MlxCheck::State::skipped, why});
  };
  constexpr const char* kNoMlx = "built without MLX";
  const char* no_gpu = state.built_in ? "no Metal device" : kNoMlx;
  std::vector<float> doubled = row_sums(), counted = row_sums();
  for (float& sum : doubled) sum *= 2;
  for (float& sum : counted) sum += 1;
  add(state.built_in, "arrays to MLX and back, its softmax on the CPU", kNoMlx,
      native_softmax(MlxPlace::cpu), kOnce, softmax(), 1e-6);
  add(state.has_metal, "its softmax on the GPU", no_gpu, native_softmax(MlxPlace::gpu), kTimed,
      softmax(), 1e-6);
  add(state.has_metal, "two launches, templates, an array between them", no_gpu, two_launches(),
      kTimed, doubled, 0);
  add(state.has_metal, "atomic outputs with a start value", no_gpu, atomics(), kOnce, counted, 0);
  return checks;
}

}  // namespace ksearch::target
