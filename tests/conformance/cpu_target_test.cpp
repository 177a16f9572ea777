// What the CPU target makes of broken and hostile programs, for each way of confining them and with
// the static check off: the sandbox must hold alone. After each, an honest program runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "unit/target/cpu_fixture.h"
#include "unit/target/hostile.h"

namespace ksearch::target {
namespace {

using Parameter = std::tuple<os::SandboxWay, Hostile>;

class CpuConformance : public testing::TestWithParam<Parameter> {};

TEST_P(CpuConformance, ComesToItsVerdictAndLeavesTheTargetUsable) {
  const auto& [way, hostile] = GetParam();
  if (const auto sandbox = os::Sandbox::find({.force = way}); !sandbox)
    GTEST_SKIP() << sandbox.error().text();
  CpuTarget target =
      make_target({.way = way, .static_check = false, .memory_limit_bytes = 512u << 20});
  Case c(hostile.source, 1000);
  const Trial run = run_case(target, c, std::chrono::milliseconds(hostile.milliseconds));
  EXPECT_TRUE(std::any_of(hostile.comes_to.begin(), hostile.comes_to.end(),
                          [&](const std::string& t) { return run.came_to.starts_with(t); }))
      << hostile.name << " came to: " << run.came_to;
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::temp_directory_path() /
                                       "ksearch-adversary-hostile"));
  Case honest(kDouble, 5);
  const Trial after = run_case(target, honest);
  ASSERT_EQ(after.came_to, "done");
  EXPECT_EQ(after.out, (std::vector<float>{2, 4, 6, 8, 10}));
}

INSTANTIATE_TEST_SUITE_P(Ways, CpuConformance,
                         testing::Combine(testing::Values(os::SandboxWay::namespaces,
                                                          os::SandboxWay::landlock),
                                          testing::ValuesIn(hostile_programs())),
                         [](const auto& info) {
                           return std::string(os::name(std::get<0>(info.param))) + "_" +
                                  std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace ksearch::target
