#include "task/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace ksearch::task {
namespace {

using kernel::DType;

kernel::Definition definition(std::string_view text) {
  const auto json = base::parse_json(text, "test");
  EXPECT_TRUE(json) << json.error().text();
  const auto d = kernel::parse_definition(*json, "test");
  EXPECT_TRUE(d) << d.error().text();
  return *d;
}

kernel::Workload workload(const kernel::Definition& d, std::string_view text) {
  const auto w = kernel::parse_workload(*base::parse_json(text, "test"), d, "test");
  EXPECT_TRUE(w) << w.error().text();
  return *w;
}

/// One float32 input x [n] made by `rule`, one output.
kernel::Definition one_input(const std::string& rule, const std::string& dtype = "float32") {
  return definition(R"({"name": "t", "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": ")" +
                    dtype + R"("}},
    "outputs": {"out": {"shape": ["n"], "dtype": "float32"}}, "generate": [)" +
                    rule + "]}");
}

std::shared_ptr<const NoisePool> pool(std::uint64_t seed) {
  static std::map<std::uint64_t, std::shared_ptr<const NoisePool>> pools;
  auto& one = pools[seed];
  if (!one) one = NoisePool::make(seed);
  return one;
}

std::vector<double> made(const kernel::Definition& d, int n, Content content = {},
                         std::uint64_t seed = 1, const char* tensor = "x") {
  const auto w = workload(d, R"({"name": "w", "axes": {"n": )" + std::to_string(n) + "}}");
  const auto maker = InputMaker::make(d, w, seed, pool(seed));
  EXPECT_TRUE(maker) << maker.error().text();
  for (const auto& t : maker->tensors())
    if (t.name == tensor) {
      std::vector<std::byte> bytes(t.bytes());
      maker->fill(content, tensor, bytes);
      std::vector<double> values(static_cast<std::size_t>(t.elements()));
      to_doubles(t.dtype, bytes, values);
      return values;
    }
  return {};
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double deviation(const std::vector<double>& v) {
  const double m = mean(v);
  double sum = 0;
  for (const double x : v) sum += (x - m) * (x - m);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

TEST(Inputs, SameSeedWorkloadAndSetGiveTheSameNumbers) {
  const auto d = one_input(R"({"kind": "normal", "tensors": ["x"], "mean": 0, "std": 1})");
  EXPECT_EQ(made(d, 10000, {3, 0}), made(d, 10000, {3, 0}));
}

TEST(Inputs, SetsSeedsAndVariantsDiffer) {
  const auto d = one_input(
      R"({"kind": "normal", "tensors": ["x"], "mean": 0, "std": 1, "stress": [{"mean": 0}]})");
  const auto first = made(d, 100, {0, 0});
  EXPECT_NE(first, made(d, 100, {1, 0}));
  EXPECT_NE(first, made(d, 100, {0, 1}));
  EXPECT_NE(first, made(d, 100, {0, 0}, 2));
}

TEST(Inputs, NoRowComesAgainInOtherSets) {
  // What a kernel could keep is whole rows: none of 4096 elements repeats in 200 sets.
  const auto d = one_input(R"({"kind": "normal", "tensors": ["x"], "mean": 0, "std": 1})");
  std::set<std::pair<double, double>> beginnings;
  for (std::uint64_t set = 0; set < 200; ++set) {
    const auto x = made(d, 4096, {set, 0});
    EXPECT_TRUE(beginnings.emplace(x[0], x[1]).second);
  }
}

TEST(Inputs, NormalHasItsMeanAndDeviation) {
  const auto x =
      made(one_input(R"({"kind": "normal", "tensors": ["x"], "mean": 0.5, "std": 2})"), 1 << 18);
  EXPECT_NEAR(mean(x), 0.5, 0.03);
  EXPECT_NEAR(deviation(x), 2.0, 0.03);
}

TEST(Inputs, UniformStaysInItsRange) {
  const auto x =
      made(one_input(R"({"kind": "uniform", "tensors": ["x"], "low": -6, "high": -0.5})"), 1 << 16);
  EXPECT_GE(*std::ranges::min_element(x), -6.0);
  EXPECT_LT(*std::ranges::max_element(x), -0.5 + 1e-6);
  EXPECT_NEAR(mean(x), -3.25, 0.05);
  EXPECT_NEAR(deviation(x), 5.5 / std::sqrt(12.0), 0.05);
}

TEST(Inputs, LogUniformIsEvenInTheLogarithm) {
  auto x = made(one_input(R"({"kind": "log_uniform", "tensors": ["x"], "low": 0.01, "high": 100})"),
                20000);
  std::ranges::sort(x);
  EXPECT_NEAR(std::log10(x[10000]), 0.0, 0.1);
  EXPECT_GE(x.front(), 0.0099);
  EXPECT_LE(x.back(), 100.1);
}

TEST(Inputs, SoftplusNegativeIsNegative) {
  const auto x = made(
      one_input(R"({"kind": "softplus_negative", "tensors": ["x"], "mean": 0, "std": 1})"), 1000);
  EXPECT_LT(*std::ranges::max_element(x), 0.0);
  EXPECT_NEAR(mean(x), -0.806, 0.1);  // E log(1 + e^N(0,1)) = 0.806
}

TEST(Inputs, IntegersStopBeforeHigh) {
  const auto x = made(
      one_input(R"({"kind": "integers", "tensors": ["x"], "low": 2, "high": "n / 100"})", "int32"),
      1000);
  EXPECT_EQ(*std::ranges::min_element(x), 2);
  EXPECT_EQ(*std::ranges::max_element(x), 9);
}

TEST(Inputs, StressReplacesWhatItNames) {
  const auto d = one_input(
      R"({"kind": "normal", "tensors": ["x"], "mean": 1, "std": 1, "stress": [{"std": 100}, {"mean": 80, "std": 0.5}]})");
  EXPECT_NEAR(deviation(made(d, 20000, {0, 1})), 100, 5);
  EXPECT_NEAR(mean(made(d, 20000, {0, 2})), 80, 0.1);
}

TEST(Inputs, HalfTypesAreRoundedToNearestEven) {
  for (const char* dtype : {"bfloat16", "float16"}) {
    const auto narrow = made(one_input(R"({"kind": "normal", "tensors": ["x"]})", dtype), 5000);
    const auto wide = made(one_input(R"({"kind": "normal", "tensors": ["x"]})"), 5000);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const auto f = static_cast<float>(wide[i]);
      const float want = std::string_view(dtype) == "bfloat16"
                             ? kernel::float_from_bfloat16(kernel::bfloat16_from_float(f))
                             : kernel::float_from_half(kernel::half_from_float(f));
      ASSERT_EQ(narrow[i], want) << dtype << " " << i;
    }
  }
}

TEST(Inputs, CausalLengthsReachTheLongest) {
  const auto x =
      made(one_input(R"({"kind": "causal_lengths", "tensors": ["x"], "max": 37})", "int32"), 16);
  EXPECT_EQ(*std::ranges::max_element(x), 37);
  EXPECT_GE(*std::ranges::min_element(x), 1);
}

TEST(Inputs, PageTableIsOneConsistentTable) {
  const auto d = definition(R"({"name": "t", "axes": {"B": {"type": "var"}, "N": {"type": "var"}},
    "inputs": {"indptr": {"shape": ["B + 1"], "dtype": "int32"}, "indices": {"shape": ["N"], "dtype": "int32"},
               "last": {"shape": ["B"], "dtype": "int32"}},
    "outputs": {"out": {"shape": ["B"], "dtype": "float32"}},
    "generate": [{"kind": "page_table", "tensors": ["indptr", "indices", "last"], "pages": "2 * N", "page_size": 16}]})");
  const auto w = workload(d, R"({"name": "w", "axes": {"B": 5, "N": 40}})");
  const auto maker = *InputMaker::make(d, w, 7, pool(7));
  const auto read = [&](const char* name, std::size_t n) {
    std::vector<std::byte> bytes(n * 4);
    maker.fill({2, 0}, name, bytes);
    std::vector<double> v(n);
    to_doubles(DType::int32, bytes, v);
    return v;
  };
  const auto indptr = read("indptr", 6), indices = read("indices", 40), last = read("last", 5);
  EXPECT_EQ(indptr.front(), 0);
  EXPECT_EQ(indptr.back(), 40);
  for (std::size_t i = 1; i < indptr.size(); ++i) EXPECT_LT(indptr[i - 1], indptr[i]);
  EXPECT_EQ(std::set<double>(indices.begin(), indices.end()).size(), 40u);
  EXPECT_LT(*std::ranges::max_element(indices), 80);
  EXPECT_LE(*std::ranges::max_element(last), 16);
  EXPECT_GE(*std::ranges::min_element(last), 1);
}

std::string fault(const kernel::Definition& d) {
  const auto w = workload(d, R"({"name": "w", "axes": {"n": 4}})");
  const auto maker = InputMaker::make(d, w, 1, pool(1));
  return maker ? "" : maker.error().text();
}

TEST(Inputs, UnknownKindIsRefusedByName) {
  EXPECT_EQ(fault(one_input(R"({"kind": "quantised", "tensors": ["x"]})")),
            "t: generate[0].kind: no inputs of kind \"quantised\" are made yet");
}

TEST(Inputs, UnknownSettingNamesItsPlace) {
  EXPECT_EQ(fault(one_input(R"({"kind": "normal", "tensors": ["x"], "variance": 2})")),
            "t: generate[0].variance: unknown key (mean and std are known)");
  EXPECT_EQ(fault(one_input(R"({"kind": "normal", "tensors": ["x"], "stress": [{"sd": 2}]})")),
            "t: generate[0].stress[0].sd: unknown key (mean and std are known)");
}

TEST(Inputs, AnIntegerWithoutARuleIsRefused) {
  EXPECT_EQ(fault(one_input("", "int32")),
            "t: inputs.x: an integer input needs a rule in `generate`");
}

}  // namespace
}  // namespace ksearch::task
