#include "simt/schedules.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

namespace ksearch::simt {
namespace {
using testing::ElementsAre;

template <class T>
std::string bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Schedules, AreListedWithCommas) {
  const auto schedules = parse_schedules("default,random:7,reversed");
  ASSERT_TRUE(schedules);
  ASSERT_EQ(schedules->size(), 3u);
  EXPECT_EQ((*schedules)[1].name, "random");
  EXPECT_EQ((*schedules)[1].seed, 7u);
  EXPECT_EQ((*schedules)[2].name, "reversed");
  for (const char* wrong : {"", "default,", "sideways", "default,,reversed"})
    EXPECT_FALSE(parse_schedules(wrong)) << wrong;
}

TEST(Difference, CountsElementsAndTheLargestGap) {
  using kernel::DType;
  const auto floats = bytes<float>({1, -8, 3, 4});
  EXPECT_FALSE(difference(DType::float32, floats, floats));
  const auto found = difference(DType::float32, floats, bytes<float>({1, -8, 3.5f, 3}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->elements, 2);
  EXPECT_EQ(found->of, 4);
  EXPECT_EQ(found->largest, 1);
  EXPECT_EQ(found->largest_value, 8);
  const auto halves = difference(DType::bfloat16, bytes<std::uint16_t>({0x3f80, 0x4000}),
                                 bytes<std::uint16_t>({0x3f80, 0x4040}));
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->largest, 1);  // 2 and 3
}

TEST(Difference, ANaNOnOneSideIsAsFarAsItGets) {
  const auto found =
      difference(kernel::DType::float32, bytes<float>({1, NAN}), bytes<float>({1, 2}));
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::isinf(found->largest));
  EXPECT_EQ(found->largest_value, 1);
}

Report report_of(const CheckOptions& options) {
  Report report;
  Finding finding;
  finding.kind = options.schedule.name == "random" ? "data_race" : "out_of_bounds";
  report.findings.push_back(finding);
  report.warnings = {"the same"};
  report.outputs["y"] = bytes<float>({options.schedule.name == "default" ? 1.0f : 2.0f});
  report.trace = {{"traced", options.trace_groups}};
  return report;
}

TEST(Schedules, WhatAnyOfThemSeesIsToldOnce) {
  CheckOptions options;
  options.trace_groups = 32;
  const auto report = check_schedules(
      {{"default", 0}, {"reversed", 0}, {"random", 3}}, options, {{"y", kernel::DType::float32}},
      [](const CheckOptions& one) -> base::Result<Report> { return report_of(one); });
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 2u);
  EXPECT_EQ(report->findings[1].kind, "data_race");
  EXPECT_THAT(report->warnings, ElementsAre("the same"));
  EXPECT_EQ(report->outputs.at("y"), bytes<float>({1}));  // of the first
  EXPECT_EQ(report->trace["traced"], 32);
  ASSERT_EQ(report->differences.size(), 2u);
  EXPECT_EQ(report->differences[1].schedule, "random:3");
  EXPECT_EQ(in_words(report->differences[0]),
            "1 of 1 elements of y differ under schedule reversed, by 1 at most (the largest value "
            "is 1): the result depends on the order in which SIMD-groups run");
}

}  // namespace
}  // namespace ksearch::simt
