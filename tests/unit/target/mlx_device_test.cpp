// Against the real MLX, its CPU build where this is no Mac: all but the dispatch of kernels.
#include "target/metal/mlx_device.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "target/metal/mlx_self_test.h"

namespace ksearch::target {
namespace {
using kernel::DType;
using testing::HasSubstr;

class MlxDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!mlx_state().built_in)
      GTEST_SKIP() << "built without MLX: pip install 'mlx[cpu]' into .venv (./test.sh does), or "
                      "name its share/cmake/MLX by -DMLX_DIR";
  }
};

MlxTensor tensor(std::string name, std::vector<std::int64_t> shape,
                 const std::vector<float>& values) {
  return {std::move(name), DType::float32, std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4)};
}

/// Between -1 and 1, the same each time.
std::vector<float> numbers(std::size_t count, unsigned seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    values.push_back(static_cast<float>(seed >> 8) / 8388608.0F - 1.0F);
  }
  return values;
}

std::vector<float> floats_of(const MlxTensor& t) {
  std::vector<float> values(t.bytes.size() / 4);
  std::memcpy(values.data(), t.bytes.data(), t.bytes.size());
  return values;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-6) << i;
}

MlxWork native(const MlxNative& what, std::vector<MlxTensor> inputs) {
  return {.inputs = std::move(inputs),
          .kernels = {},
          .what = what,
          .outputs = {},
          .place = MlxPlace::cpu};
}

MlxLaunch copy_launch() {
  MlxLaunch launch{.kernel = 0};
  launch.inputs = {"x"};
  launch.outputs = {{"out", DType::float32, {4}, {}}};
  launch.threads = {4, 1, 1};
  return launch;
}

MlxWork copy_work() {
  return {.inputs = {tensor("x", {4}, {1, 2, 3, 4})},
          .kernels = {{"copy", "uint i = thread_position_in_grid.x;\nout[i] = x[i];\n"}},
          .what = std::vector{copy_launch()},
          .outputs = {"out"}};
}

TEST_F(MlxDevice, BitsOfEveryTypeComeBackAsTheyWent) {
  const std::string nan("\x01\x00\x80\x7f", 4);  // a signalling one: nothing may convert it
  MlxWork work{
      .inputs = {{"f", DType::float32, {2}, nan + nan},
                 {"h", DType::float16, {2, 1}, std::string("\x01\x7c\x00\x3c", 4)},
                 {"b", DType::bfloat16, {1, 2}, std::string("\x81\x7f\x80\x3f", 4)},
                 {"l", DType::int64, {}, std::string("\x01\x02\x03\x04\x05\x06\x07\x88", 8)},
                 {"u", DType::uint8, {3}, std::string("\x00\xff\x80", 3)},
                 {"t", DType::boolean, {2}, std::string("\x01\x00", 2)}},
      .kernels = {},
      .what = std::vector<MlxLaunch>{},
      .outputs = {"f", "h", "b", "l", "u", "t"},
      .place = MlxPlace::cpu};
  const auto answer = run_on_mlx(work);
  ASSERT_TRUE(answer) << answer.error().text();
  ASSERT_EQ(answer->outputs.size(), work.inputs.size());
  for (std::size_t i = 0; i < work.inputs.size(); ++i) {
    EXPECT_EQ(answer->outputs[i].name, work.inputs[i].name);
    EXPECT_EQ(answer->outputs[i].dtype, work.inputs[i].dtype) << work.inputs[i].name;
    EXPECT_EQ(answer->outputs[i].shape, work.inputs[i].shape) << work.inputs[i].name;
    EXPECT_EQ(answer->outputs[i].bytes, work.inputs[i].bytes) << work.inputs[i].name;
  }
}

TEST_F(MlxDevice, ItsRmsNormIsOurs) {
  constexpr std::size_t kRows = 3, kSize = 70;
  const auto x = numbers(kRows * kSize, 1), weight = numbers(kSize, 2);
  const auto answer =
      run_on_mlx(native({.what = MlxOperation::rms_norm, .number = 1e-3F},
                        {tensor("x", {kRows, kSize}, x), tensor("weight", {kSize}, weight)}));
  ASSERT_TRUE(answer) << answer.error().text();
  std::vector<double> want;
  for (std::size_t row = 0; row < kRows; ++row) {
    double squares = 0;
    for (std::size_t c = 0; c < kSize; ++c) squares += std::pow(x[row * kSize + c], 2);
    for (std::size_t c = 0; c < kSize; ++c)
      want.push_back(x[row * kSize + c] * weight[c] / std::sqrt(squares / kSize + 1e-3));
  }
  EXPECT_EQ(answer->outputs[0].name, "out");
  expect_near(floats_of(answer->outputs[0]), want);
}

/// Two heads of queries share one of keys; the last query sees the last key.
std::vector<double> attention(const std::vector<float>& q, const std::vector<float>& k,
                              const std::vector<float>& v, std::size_t rows, std::size_t keys,
                              std::size_t size, double scale, bool causal) {
  std::vector<double> out;
  for (std::size_t row = 0; row < 2 * rows; ++row) {
    const std::size_t seen = causal ? keys - rows + row % rows + 1 : keys;
    std::vector<double> weights(seen), sums(size);
    double total = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double dot = 0;
      for (std::size_t d = 0; d < size; ++d) dot += double{q[row * size + d]} * k[j * size + d];
      total += weights[j] = std::exp(dot * scale);
    }
    for (std::size_t j = 0; j < seen; ++j)
      for (std::size_t d = 0; d < size; ++d) sums[d] += weights[j] / total * v[j * size + d];
    out.insert(out.end(), sums.begin(), sums.end());
  }
  return out;
}

TEST_F(MlxDevice, ItsAttentionIsOurs) {
  constexpr std::size_t kQueries = 5, kKeys = 9, kSize = 64;
  const auto q = numbers(2 * kQueries * kSize, 3), k = numbers(kKeys * kSize, 4),
             v = numbers(kKeys * kSize, 5);
  for (const bool causal : {false, true}) {
    const auto answer = run_on_mlx(
        native({.what = MlxOperation::attention, .number = 0.125F, .causal = causal},
               {tensor("q", {1, 2, kQueries, kSize}, q), tensor("k", {1, 1, kKeys, kSize}, k),
                tensor("v", {1, 1, kKeys, kSize}, v)}));
    ASSERT_TRUE(answer) << answer.error().text();
    expect_near(floats_of(answer->outputs[0]),
                attention(q, k, v, kQueries, kKeys, kSize, 0.125, causal));
  }
}

TEST_F(MlxDevice, TimesAsManySamplesAsAreAsked) {
  const MlxWork work =
      native({.what = MlxOperation::softmax}, {tensor("x", {2, 3}, numbers(6, 6))});
  const auto answer = run_on_mlx(work, {.warm_up = 1, .samples = 4, .copies = 3});
  ASSERT_TRUE(answer) << answer.error().text();
  ASSERT_EQ(answer->seconds.size(), 4u);
  for (const double seconds : answer->seconds) EXPECT_GT(seconds, 0);
}

TEST_F(MlxDevice, SaysWhatIsWrongWithTheWork) {
  const auto fault = [](const MlxWork& work) {
    const auto answer = run_on_mlx(work);
    return answer ? std::string("none") : answer.error().text();
  };
  const MlxNative softmax{.what = MlxOperation::softmax};
  EXPECT_THAT(fault(native(softmax, {tensor("x", {5}, {1, 2})})),
              HasSubstr("x has 8 bytes, its shape says 20"));
  EXPECT_THAT(fault(native(softmax, {})), HasSubstr("0 inputs, 1 are meant"));
  EXPECT_THAT(fault(native(softmax, {{"x", DType::float64, {}, std::string(8, '\0')}})),
              HasSubstr("MLX has no float64"));
  MlxWork work = copy_work();
  work.place = MlxPlace::cpu;
  work.inputs[0].name = "y";
  EXPECT_THAT(fault(work), HasSubstr("x is neither an input nor written by a launch before"));
  // MLX's own words about its own arguments.
  MlxWork nothing_written = copy_work();
  nothing_written.place = MlxPlace::cpu;
  std::get<std::vector<MlxLaunch>>(nothing_written.what)[0].outputs.clear();
  EXPECT_THAT(fault(nothing_written), HasSubstr("[metal_kernel]"));
}

TEST_F(MlxDevice, WithoutAGpuKernelsHaveACleanError) {
  if (mlx_state().has_metal) GTEST_SKIP() << "there is a Metal device here";
  const auto answer = run_on_mlx(copy_work());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::environment);
  EXPECT_THAT(answer.error().text(), HasSubstr("no Metal device"));
  // Past our own check MLX says it itself.
  MlxWork on_cpu = copy_work();
  on_cpu.place = MlxPlace::cpu;
  const auto refused = run_on_mlx(on_cpu);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("[metal_kernel]"));
}

TEST(MlxAbsent, SaysWhatToDo) {
  if (mlx_state().built_in) GTEST_SKIP() << "built with MLX " << mlx_state().version;
  const auto answer = run_on_mlx({});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, base::ErrorKind::environment);
  EXPECT_THAT(answer.error().text(), HasSubstr("-DMLX_DIR"));
}

TEST(MlxSelfTest, NothingFailsAndWhatCannotRunIsSkipped) {
  const MlxState state = mlx_state();
  const auto checks = mlx_self_test();
  ASSERT_EQ(checks.size(), 4u);
  for (const MlxCheck& one : checks) EXPECT_NE(one.state, MlxCheck::State::failed) << one.detail;
  EXPECT_EQ(checks[0].state == MlxCheck::State::passed, state.built_in);
  EXPECT_EQ(checks[2].state == MlxCheck::State::passed, state.has_metal);
}

}  // namespace
}  // namespace ksearch::target
