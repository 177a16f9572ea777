#include "evaluate/contest.h"

#include <gtest/gtest.h>

#include "evaluate/statistics.h"
#include "scale_task.h"

namespace ksearch::evaluate {
namespace {

using testing::FakeCall;
using testing::scale;
using testing::ScaleSession;

/// Two workers on one workload.
struct Duel : ScaleSession {
  std::unique_ptr<Truth> truth;
  std::unique_ptr<target::Worker> a, b;
  std::vector<Rig> rigs;
  kernel::BoundProgram plan;
  base::Random random{1};
  ContestOptions options;  // not the session's
  const kernel::Workload& workload = task.workloads[2];

  Duel() {
    options.workload = &workload;
    options.calls = 4;
    options.first_set = 1000;
    options.share = std::chrono::seconds(10);
    options.of = "a";
    options.against = "b";
    options.limit_per_call = std::chrono::seconds(1);
  }
  void start() {
    truth = std::move(*Truth::open(task, target, {}, 1));
    const auto bound = kernel::bind(testing::scale_program(task.definition, "naive"),
                                    task.definition, workload, target.device(), {});
    plan = *bound;
    a = *target.start({"a", "", {}}, nullptr);
    b = *target.start({"b", "", {}}, nullptr);
    const auto outputs = outputs_of(task.definition, truth->maker(workload).tensors());
    rigs.emplace_back(*a, truth->maker(workload), outputs);
    rigs.emplace_back(*b, truth->maker(workload), outputs);
  }
  Tried<ContestResult> run() {
    return contest(
        {{"a", &rigs[0], &plan, std::nullopt, true}, {"b", &rigs[1], &plan, 1e-7, false}}, *truth,
        options, clock, random);
  }
};

TEST(Contest, DriftThatHitsBothCancels) {
  Duel d;
  // The host slows down by 1% with every call of either.
  auto calls = std::make_shared<int>(0);
  d.add("a", scale, 0);
  d.add("b", scale, 0);
  d.target.behaviours["a"].ns = [calls](const FakeCall&) {
    return 1e6 * std::pow(1.01, (*calls)++);
  };
  d.target.behaviours["b"].ns = [calls](const FakeCall&) {
    return 2e6 * std::pow(1.01, (*calls)++);
  };
  d.options.share = std::chrono::milliseconds(1);
  d.options.least_rounds = 6;
  d.start();
  const auto result = d.run();
  ASSERT_TRUE(result);
  const kernel::Ratio r = paired_ratio(result->call_ns.at("b"), result->call_ns.at("a"));
  EXPECT_NEAR(r.value, 2.0, 1e-6);  // A B B A: what is added to one is added to the other
}

TEST(Contest, StopsWhenTheIntervalIsNarrow) {
  Duel d;
  d.add("a", scale, 1e6);
  d.add("b", scale, 2e6);
  d.options.width = 0.05;
  d.start();
  const auto result = d.run();
  ASSERT_TRUE(result);
  EXPECT_LT(result->call_ns.at("a").size(), 20u);
  EXPECT_GE(result->call_ns.at("a").size(), 6u);
  EXPECT_EQ(result->batches, static_cast<int>(2 * result->call_ns.at("a").size()));
}

TEST(Contest, StopsWhenTheShareIsUsed) {
  Duel d;
  d.add("a", scale, 1e6);
  d.add("b", scale, 1e6);
  d.options.width = 0;
  d.options.share = std::chrono::milliseconds(200);  // a round takes 16 ms
  d.start();
  const auto result = d.run();
  ASSERT_TRUE(result);
  EXPECT_GT(result->call_ns.at("a").size(), 18u);
  EXPECT_LT(result->call_ns.at("a").size(), 28u);
}

TEST(Contest, EveryTimedCallHasFreshInputs) {
  Duel d;
  auto firsts = std::make_shared<std::multiset<float>>();
  d.add(
      "a",
      [firsts](const FakeCall& c) {
        firsts->insert(c.as("x")[0]);
        scale(c);
      },
      1e6);
  d.add("b", scale, 1e6);
  d.start();
  ASSERT_TRUE(d.run());
  for (const float f : *firsts) EXPECT_EQ(firsts->count(f), 1u);
}

TEST(Contest, WarmCallsShareOneSet) {
  Duel d;
  auto outs = std::make_shared<std::set<const float*>>();
  d.add(
      "a",
      [outs](const FakeCall& c) {
        outs->insert(c.as("out").data());
        scale(c);
      },
      1e6);
  d.add("b", scale, 1e6);
  d.options.fresh = false;
  d.start();
  ASSERT_TRUE(d.run());
  EXPECT_EQ(outs->size(), 1u);
}

TEST(Contest, AnEntrantThatFailsLeavesTheOthersIn) {
  Duel d;
  d.add("a", scale, 1e6);
  d.add("b", scale, 1e6);
  d.target.behaviours["b"].fails = [](const FakeCall& c) -> std::optional<kernel::Verdict> {
    if (c.number < 10) return std::nullopt;
    return kernel::Verdict(kernel::Crashed{"segmentation fault"});
  };
  d.start();
  const auto result = d.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.count("b"), 1u);
  EXPECT_EQ(result->call_ns.count("b"), 0u);
  EXPECT_GE(result->call_ns.at("a").size(), 6u);
}

TEST(Contest, CallsOfABatchFollowFromTheReferenceTimeAndFromMemory) {
  const std::vector<kernel::TensorShape> small{
      {"x", kernel::DType::float32, {1000}, kernel::Access::in}};
  EXPECT_EQ(calls_per_batch(1e6, small), 8);
  EXPECT_EQ(calls_per_batch(1e9, small), 1);
  EXPECT_EQ(calls_per_batch(10, small), 64);
  const std::vector<kernel::TensorShape> large{
      {"x", kernel::DType::float32, {16 << 20}, kernel::Access::in}};
  EXPECT_EQ(calls_per_batch(1e6, large), 4);  // 64 MiB each
}

}  // namespace
}  // namespace ksearch::evaluate
