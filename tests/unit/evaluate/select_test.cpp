#include "evaluate/select.h"

#include <gtest/gtest.h>

namespace ksearch::evaluate {
namespace {

kernel::Definition definition() {
  return *kernel::parse_definition(
      *base::parse_json(R"({"name": "t", "axes": {"L": {"type": "var"}, "D": {"type": "var"}},
    "types": {"T": ["float32", "bfloat16"]}, "params": {"causal": "bool"},
    "inputs": {"x": {"shape": ["L", "D"], "dtype": "T"}}, "outputs": {"out": {"shape": ["L", "D"], "dtype": "T"}}})",
                        "d"),
      "d");
}

kernel::Workload workload(int length, int size, const char* type = "float32", bool causal = false) {
  kernel::Workload w;
  w.name = std::to_string(length) + "x" + std::to_string(size) + type + (causal ? "c" : "f");
  w.axes = {{"L", length}, {"D", size}};
  w.types = {{"T", *kernel::parse_dtype(type)}};
  w.params = {{"causal", causal}};
  return w;
}

const kernel::TunableChoice kSmall{{"B", 16}}, kLarge{{"B", 64}};

TEST(Select, OneChoiceForAllWhereSplittingGainsLittle) {
  const auto a = workload(100, 64), b = workload(1000, 64);
  const auto select = select_tunables(
      definition(), {{&a, {{kSmall, 100}, {kLarge, 99}}}, {&b, {{kSmall, 200}, {kLarge, 199}}}});
  ASSERT_EQ(select.size(), 1u);
  EXPECT_FALSE(select[0].when);
  EXPECT_EQ(select[0].tunables, kLarge);
}

TEST(Select, TellsHowTheOthersCompare) {
  const auto a = workload(100, 64), b = workload(1000, 64);
  EXPECT_EQ(
      describe_choices({{&a, {{kSmall, 100}, {kLarge, 50}}}, {&b, {{kSmall, 200}, {kLarge, 200}}}}),
      "tunables over all workloads: B=64; B=16 1.41x its time");
  EXPECT_EQ(describe_choices({{&a, {{kSmall, 100}, {kLarge, 50}}}, {&b, {{kSmall, 200}}}}), "")
      << "the other is not legal everywhere";
}

TEST(Select, SplitsByTheAxisThatDecides) {
  const auto a = workload(100, 64), b = workload(1000, 64);
  const auto select = select_tunables(
      definition(), {{&a, {{kSmall, 100}, {kLarge, 200}}}, {&b, {{kSmall, 300}, {kLarge, 150}}}});
  ASSERT_EQ(select.size(), 2u);
  ASSERT_TRUE(select[0].when);
  EXPECT_EQ(select[0].when->text(), "L <= 316");
  EXPECT_EQ(select[0].tunables, kSmall);
  EXPECT_FALSE(select[1].when);
  EXPECT_EQ(select[1].tunables, kLarge);
}

TEST(Select, SplitsByTypeAndByParameter) {
  const auto a = workload(100, 64, "float32"), b = workload(100, 64, "bfloat16");
  const auto by_type = select_tunables(
      definition(), {{&a, {{kSmall, 100}, {kLarge, 200}}}, {&b, {{kSmall, 300}, {kLarge, 150}}}});
  ASSERT_EQ(by_type.size(), 2u);
  EXPECT_EQ(by_type[0].when->text(), "T == float32");
  const auto c = workload(100, 64, "float32", true), d = workload(100, 64, "float32", false);
  const auto by_param = select_tunables(
      definition(), {{&c, {{kSmall, 100}, {kLarge, 200}}}, {&d, {{kSmall, 300}, {kLarge, 150}}}});
  ASSERT_EQ(by_param.size(), 2u);
  EXPECT_EQ(by_param[0].when->text(), "causal");
}

TEST(Select, AChoiceThatIsIllegalSomewhereIsNotTheDefault) {
  const auto a = workload(100, 64), b = workload(1000, 128);
  // kLarge is fastest where it is legal, and has no entry on b.
  const auto select =
      select_tunables(definition(), {{&a, {{kSmall, 100}, {kLarge, 99.5}}}, {&b, {{kSmall, 300}}}});
  ASSERT_EQ(select.size(), 1u);
  EXPECT_EQ(select[0].tunables, kSmall);
}

TEST(Select, NoiseDoesNotMakeARule) {
  const auto a = workload(100, 64), b = workload(1000, 64);
  // 10% either way, where each time is known to 10%.
  const std::map<kernel::TunableChoice, double> unsure{{kSmall, 0.1}, {kLarge, 0.1}},
      sure{{kSmall, 0.005}, {kLarge, 0.005}};
  const std::map<kernel::TunableChoice, double> here{{kSmall, 100}, {kLarge, 110}},
      there{{kSmall, 110}, {kLarge, 100}};
  EXPECT_EQ(select_tunables(definition(), {{&a, here, unsure}, {&b, there, unsure}}).size(), 1u);
  EXPECT_EQ(select_tunables(definition(), {{&a, here, sure}, {&b, there, sure}}).size(), 2u);
}

TEST(Select, WithoutTunablesThereAreNoRules) {
  const auto a = workload(100, 64);
  EXPECT_TRUE(select_tunables(definition(), {{&a, {{{}, 100}}}}).empty());
}

}  // namespace
}  // namespace ksearch::evaluate
