#include "report/summary.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "report/ablation.h"
#include "search/recorder.h"
#include "unit/report/three_steps.h"

namespace ksearch::report {
namespace {

using namespace std::chrono_literals;
using search::Answered;
using search::Engine;
using search::program;

TEST(Summary, SaysWhatTheRunFound) {
  const RunSummary summary = summarise(info(), three_steps());
  EXPECT_EQ(summary.status, "passed");
  EXPECT_EQ(summary.end_reason, "budget: evaluations");
  EXPECT_EQ(summary.spent.evaluations, 4);
  ASSERT_TRUE(summary.best);
  EXPECT_EQ(summary.best->node_id, "wide");
  EXPECT_EQ(summary.best->certificate, "passed");
  EXPECT_EQ(summary.best->expert_name, "torch");
  EXPECT_EQ(summary.best->expert->value, 0.9);
  EXPECT_EQ(summary.best->naive->value, 9.0);
  EXPECT_DOUBLE_EQ(summary.best->roofline_fraction, 0.64);
  ASSERT_EQ(summary.path.size(), 4u);
  EXPECT_EQ(summary.path[0].node_id, "root");
  EXPECT_EQ(summary.path[1].predicted_gain, 2.0);
  EXPECT_EQ(summary.path[1].measured_gain, 5.0);
  EXPECT_EQ(summary.path[3].measured_gain, 1.5);
  EXPECT_EQ(summary.outcomes, (std::map<std::string, int>{{"Measured", 3}, {"WrongResult", 1}}));
  EXPECT_EQ(summary.nodes, 5);
  EXPECT_EQ(summary.closed_nodes, 3);
  EXPECT_EQ(summary.cycles, 4);
  EXPECT_EQ(summary.failed_cycles, 1);
}

// The best of many noisy figures is too high; those of the certificate came after the choice.
TEST(Summary, ACertificatesFiguresCountBeforeTheSearchs) {
  evaluate::Certificate certificate = search::certificate(true);
  kernel::WorkloadTiming timing;
  timing.workload = "n1000";
  timing.ratios = {{"expert", {1.2, 1.1, 1.3, 8}}, {"naive", {12, 11, 13, 2}}};
  timing.roofline_fraction = 0.5;
  certificate.feedback = {timing};
  const RunSummary summary = summarise(info(), three_steps(nullptr, {certificate}));
  EXPECT_NEAR(summary.best->expert->value, 1.2, 1e-9);
  EXPECT_NEAR(summary.best->naive->low, 11, 1e-9);
  EXPECT_DOUBLE_EQ(summary.best->roofline_fraction, 0.5);
  EXPECT_EQ(summary.path[3].measured_gain, 1.5);
}

TEST(Summary, CalibrationIsRankCorrelationAndBias) {
  const Calibration calibration = summarise(info(), three_steps()).calibration;
  EXPECT_EQ(calibration.nodes, 3);
  // Predicted 2, 2, 1.5 have ranks 2.5, 2.5, 1; measured 5, 1.2, 1.5 have 3, 1, 2. About the mean:
  // 0.5 * 1 + 0.5 * -1 + -1 * 0 = 0.
  EXPECT_DOUBLE_EQ(*calibration.rank_correlation, 0.0);
  // (5 / 2 * 1.2 / 2 * 1.5 / 1.5)^(1/3) = 1.5^(1/3)
  EXPECT_NEAR(*calibration.bias, std::cbrt(1.5), 1e-12);
}

TEST(Summary, TheFolderSaysTheSameAsTheEngine) {
  const os::TempFolder temp = os::TempFolder::create("ksearch-report").value();
  const auto folder = temp.path() / "run";
  store::Run run = store::Run::create(folder, info()).value();
  search::StoreRecorder recorder(&run);
  const RunSummary direct = summarise(info(), three_steps(&recorder));
  const auto read = summarise(folder, search::copy_task());
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(direct));
}

TEST(Summary, ItsJsonIsTheOneOfTheDesign) {
  const base::Json json = to_json(summarise(info(), three_steps()));
  for (const char* key : {"run", "task", "target", "device", "engineer", "strategy", "seed",
                          "status", "evaluations", "wall_seconds", "tokens", "cost_usd", "best"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["device"], "test");
  EXPECT_EQ(json["wall_seconds"], 20.0);
  const base::Json& best = json["best"];
  EXPECT_EQ(best["path"], base::Json({"root", "tile", "fold", "wide"}));
  EXPECT_EQ(best["ratio"]["expert"]["value"], 0.9);
  EXPECT_EQ(best["ratio"]["expert_name"], "torch");
  EXPECT_FALSE(best["per_workload"][0].contains("samples_ns"));
}

TEST(Summary, ARunThatFoundNothingHasNoBest) {
  Engine engine = Engine::make(search::config()).value();
  EXPECT_EQ(summarise(info(), engine).status, "unfinished");
  engine.tell({0ns, search::Started{}});
  engine.tell({0ns, Answered{1, engineer::PlanReply{engineer::Nothing{}}}});
  const RunSummary summary = summarise(info(), engine);
  EXPECT_EQ(summary.status, "nothing");
  EXPECT_TRUE(to_json(summary)["best"].is_null());
}

engineer::Catalog catalog() {
  engineer::Step winner;
  winner.name = "wide";
  winner.leave_out = {
      {"tile", {{"TILE", 1}}}, {"fold", {{"FOLD", 0}, {"FAST", 0}}}, {"off_path", {{"X", 0}}}};
  return {{winner}};
}

TEST(Ablation, MakesAProgramForEachStepOfThePathThatCanBeLeftOut) {
  kernel::Program base = program("wide");
  base.defines = {{"TILE", kernel::Expr::constant(8)}, {"FOLD", kernel::Expr::constant(1)}};
  base.launches[0].defines = {{"FAST", kernel::Expr::constant(1)}};
  const auto variants = leave_one_out(catalog(), {"root", "tile", "fold", "wide"}, base).value();
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].left_out, "tile");
  EXPECT_EQ(variants[0].program.defines[0].second.text(), "1");
  EXPECT_EQ(variants[0].program.defines[1].second.text(), "1");
  EXPECT_EQ(variants[1].left_out, "fold");
  EXPECT_EQ(variants[1].program.defines[1].second.text(), "0");
  EXPECT_EQ(variants[1].program.launches[0].defines[0].second.text(), "0");
  EXPECT_NE(variants[0].program.hash(), base.hash());
}

TEST(Ablation, ADefineThatIsNotThereIsAnError) {
  EXPECT_FALSE(leave_one_out(catalog(), {"root", "tile", "wide"}, program("wide")).has_value());
}

TEST(Ablation, AWinnerFromElsewhereHasNoVariants) {
  EXPECT_TRUE(leave_one_out(catalog(), {"root", "mine"}, program("x")).value().empty());
}

}  // namespace
}  // namespace ksearch::report
