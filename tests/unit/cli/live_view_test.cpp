#include "cli/live_view.h"

#include <gtest/gtest.h>

#include "golden.h"

namespace ksearch::cli {
namespace {

using namespace std::chrono_literals;

/// A run as its events tell it.
class LiveView : public testing::Test {
 protected:
  void on(double seconds, event::What what) {
    event::Event e;
    e.at = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    e.what = std::move(what);
    state_.on(e);
  }
  void start() {
    event::RunStarted run;
    run.task = "attention";
    run.target = "cpu";
    run.engineer = "catalog";
    run.strategy = "ksearch";
    run.limits.evaluations = 40;
    run.limits.wall = 3min;
    on(0, run);
    on(0, event::NodeInserted{"root", "", "naive", 1, 0, 0, {}});
    event::NodeClosed root;
    root.node_id = "root";
    root.score = 0.02;
    on(0, root);
  }
  void insert(const std::string& id, const std::string& parent, const std::string& title) {
    on(1, event::NodeInserted{id, parent, title, 2, 0.6, 7, 0.3});
  }
  void cycle(const std::string& id, double score, double predicted, double measured) {
    on(10, event::CycleStarted{1, id, "", ""});
    event::NodeClosed closed;
    closed.node_id = id;
    closed.program = "abcdef";
    closed.score = score;
    closed.predicted_gain = predicted;
    closed.measured_gain = measured;
    event::CycleEnded ended;
    ended.node_id = id;
    ended.how = "exhausted";
    ended.best_program = "abcdef";
    on(20, ended);
    on(20, closed);
    event::BestImproved best;
    best.node_id = id;
    best.naive = kernel::Ratio{score * 50, score * 48, score * 52, 40};
    best.expert = kernel::Ratio{score, score * 0.98, score * 1.02, 40};
    best.expert_name = "torch, onnxruntime";
    on(20, best);
    event::BudgetSpent spent;
    spent.spent.evaluations = ++evaluations_;
    on(20, spent);
  }
  /// Two steps closed, one under way, one that failed.
  void half_way() {
    start();
    insert("online", "root", "Online softmax");
    insert("block", "online", "Block queries and keys");
    insert("tile", "block", "Hold a tile of scores in registers");
    insert("prefetch", "block", "Prefetch the next keys");
    cycle("online", 0.05, 2.0, 2.5);
    cycle("block", 0.4, 5.0, 8.0);
    on(30, event::CycleStarted{3, "prefetch", "block", ""});
    event::Evaluated wrong;
    wrong.node_id = "prefetch";
    wrong.outcome.verdict = kernel::WrongResult{"out", "out[0, 3] is nan, wanted 0.25", 1, 1e-5};
    wrong.outcome.workload = "tiny_1x7";
    on(31, wrong);
    event::CycleEnded ended;
    ended.node_id = "prefetch";
    on(32, ended);
    on(33, event::CycleStarted{4, "tile", "block", ""});
    on(34, event::StageProgress{7, "tile", "timing f32_causal_d64"});
    state_.elapsed = 83s;
  }
  std::string draw(Size size, bool utf8 = true) {
    std::string all;
    for (const std::string& line : live_lines({.color = false, .utf8 = utf8}, state_, size))
      all += line + "|\n";
    return all;
  }

  LiveState state_;
  int evaluations_ = 0;
};

TEST_F(LiveView, LooksAsItShould) {
  half_way();
  std::string all;
  for (const Size size : {Size{100, 24}, Size{80, 16}, Size{50, 12}, Size{30, 10}, Size{20, 6}})
    all += draw(size) + "\n";
  tests::expect_golden("cli/live_view.txt", all + draw({80, 16}, false));
}

TEST_F(LiveView, ShowsWhatTheSessionDoesBeforeTheSearchStarts) {
  state_.run.task = "attention";
  state_.progress("expert torch on f32_causal_d64");
  EXPECT_EQ(draw({60, 5}),
            "ksearch attention                                         0s|\n"
            "best  nothing yet|\n"
            "budget  no limit, 0 evaluations|\n"
            "now   expert torch on f32_causal_d64|\n");
}

TEST_F(LiveView, KeepsTheSizeWhateverItIs) {
  half_way();
  for (int width = 1; width < 130; width += 3)
    for (int height = 1; height < 40; height += 2) {
      const auto lines = live_lines({.color = true, .utf8 = true}, state_, {width, height});
      EXPECT_LE(lines.size(), static_cast<std::size_t>(height));
      for (const std::string& line : lines)
        EXPECT_LE(report::columns(line), width) << width << " x " << height << ": " << line;
    }
}

TEST_F(LiveView, ForeignTextCannotSteerTheTerminal) {
  start();
  insert("evil", "root", "\x1b[2J\x1b[1;1Hgone");
  EXPECT_EQ(draw({60, 20}).find('\x1b'), std::string::npos);
}

TEST_F(LiveView, BudgetIsTheNearestLimit) {
  half_way();
  EXPECT_NEAR(*budget_share(state_), 83.0 / 180.0, 1e-9);
  state_.spent.evaluations = 39;
  EXPECT_NEAR(*budget_share(state_), 39.0 / 40.0, 1e-9);
}

}  // namespace
}  // namespace ksearch::cli
