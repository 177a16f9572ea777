#include "event/event.h"

#include <gtest/gtest.h>

namespace ksearch::event {
namespace {

using namespace std::chrono_literals;

TEST(Event, HasANameATimeAndItsMembers) {
  const Event closed{1500ms, NodeClosed{"tile", "0123", 0.5, 4.0, std::nullopt}};
  EXPECT_EQ(
      base::to_line(to_json(closed)),
      R"({"event":"node_closed","at":1.5,"node_id":"tile","program":"0123","score":0.5,"predicted_gain":4.0})");
}

TEST(Event, ReadsAsOneLine) {
  EXPECT_EQ(summary({0s, NodeClosed{"tile", "0123", 0.5, 4.0, 5.0}}),
            "tile done, score 0.50x, gain over its parent 5.00x, predicted 4.00x");
  EXPECT_EQ(summary({0s, BestImproved{"tile", "0123", 1.2, kernel::Ratio{41.2, 40, 42, 9},
                                      kernel::Ratio{1.2, 1.1, 1.3, 9}, "torch", true}}),
            "best so far: tile, 41.20x naive, 1.200x torch (modelled)");
  EXPECT_EQ(summary({0s, CycleEnded{2, "tile", "not_better", 5, "", std::nullopt}}),
            "cycle 2 of tile ended (not_better) after 5 attempts, nothing passed");
  EXPECT_EQ(summary({0s, BudgetSpent{{3, 61s, 0, 0}, {10, 180s, std::nullopt, std::nullopt}}}),
            "budget: 3 of 10 evaluations, 61 s of 180 s");
  event::Spent once{1, 2s, 900, 0};
  once.calls = 1;
  EXPECT_EQ(summary({0s, BudgetSpent{once, {}}}), "budget: 1 evaluation, 2 s, 1 call, 900 tokens");
  EXPECT_EQ(summary({0s, Answered{1, "plan", "nothing", "", 0, 0}}), "");
  EXPECT_EQ(summary({0s, Answered{1, "code", "lost", "quota", 0, 0}}), "code lost: quota");
}

TEST(Event, AnEvaluatedOutcomeLeavesItsSamplesOut) {
  kernel::Measured measured;
  kernel::WorkloadTiming timing;
  timing.workload = "w";
  timing.samples_ns = {1, 2, 3};
  measured.workloads = {timing};
  kernel::Outcome outcome;
  outcome.verdict = measured;
  const std::string line = base::to_line(to_json({0s, Evaluated{3, "tile", "0123", 1, outcome}}));
  EXPECT_EQ(line.find("samples_ns"), std::string::npos) << line;
  EXPECT_NE(line.find("median_ns"), std::string::npos);
}

TEST(Limits, RoundTrip) {
  const Limits limits{40, 180s, 1000, 2.5};
  EXPECT_EQ(to_json(parse_limits(to_json(limits), "l").value()), to_json(limits));
  EXPECT_EQ(to_json(parse_limits(base::Json::object(), "l").value()), base::Json::object());
  EXPECT_FALSE(parse_limits({{"hours", 3}}, "l").has_value());
}

TEST(Fanout, HandsEventsToAllInOrder) {
  Collector a, b;
  Fanout fanout({&a, &b});
  fanout.on({0s, Note{"x"}});
  EXPECT_EQ(a.events.size(), 1u);
  EXPECT_EQ(b.events.size(), 1u);
}

}  // namespace
}  // namespace ksearch::event
