#include "report/report_text.h"

#include <gtest/gtest.h>

#include "unit/report/three_steps.h"

namespace ksearch::report {
namespace {

using namespace std::chrono_literals;
using search::Answered;
using search::Engine;

constexpr Style kReportStyle{.color = false, .utf8 = true};

std::string report_of(const store::RunInfo& info, const Engine& engine) {
  return report_text(kReportStyle, summarise(info, engine), {}, engine, "runs/copy-1");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// A search that was told of the naive program and one idea, and asks for its program.
Engine begun() {
  search::Config config = search::config();
  config.limits.evaluations = 2;
  Engine engine = Engine::make(config).value();
  search::Started started;
  started.root_program = search::program("naive");
  started.root_outcome = search::measured(0.1);
  engine.tell({0s, std::move(started)});
  engine.tell({1s, Answered{engine.requests().front().id,
                            search::edits({search::idea("root", "tile", 0.5, 2, 0.2)})}});
  return engine;
}

void attempt(Engine& engine, const std::string& source, kernel::Outcome outcome) {
  engine.tell(
      {2s, Answered{engine.requests().front().id, engineer::CodeReply{search::program(source)}}});
  engine.tell({3s, Answered{engine.requests().front().id, kernel::EvaluateReply{outcome}}});
}

// Nothing passed: what the naive program reached still stands against the expert.
TEST(ReportText, NamesTheBaselineWhereNothingPassed) {
  Engine engine = begun();
  attempt(engine, "a", search::wrong());
  attempt(engine, "b", search::wrong());
  ASSERT_TRUE(engine.ended());
  const std::string text = report_of(info(), engine);
  EXPECT_TRUE(has(text, "nothing passed")) << text;
  EXPECT_TRUE(has(text, "/expert")) << text;
  EXPECT_FALSE(has(text, "/naive")) << text;
}

TEST(ReportText, CallsOnlyMeasuredCeilingsMeasured) {
  kernel::HardwareProfile device;
  device.name = "some-gpu";
  device.kind = "metal";
  device.float32_flops = 1e12;
  const Engine engine = begun();
  store::RunInfo run = info();
  run.device = kernel::to_json(device);
  EXPECT_TRUE(has(report_of(run, engine), "Ceilings, by the profile"));
  device.measured_at = "2026-11-30T12:00:00Z";
  run.device = kernel::to_json(device);
  EXPECT_TRUE(has(report_of(run, engine), "Ceilings, measured at the start"));
}

TEST(ReportText, AProgramThatItsCertificateThrewOutHasNoTick) {
  const std::string text = report_of(
      info(), three_steps(nullptr, {search::certificate(false), search::certificate(true)}));
  EXPECT_TRUE(has(text, "✗ do wide: thrown out by its certificate (held_out)")) << text;
  EXPECT_TRUE(has(text, "★ do fold")) << text;
  EXPECT_TRUE(has(text, "wide (rank 1): thrown out\n")) << text;
  EXPECT_TRUE(has(text, "fold (rank 2): passed\n")) << text;
  EXPECT_EQ(times(text, "1.2e-3 off on n1000"), 1u) << text;
}

TEST(ReportText, AFailedCertificateSaysOnceWhatItFound) {
  const Engine engine = three_steps(
      nullptr,
      {search::certificate(false), search::certificate(false), search::certificate(false)});
  const RunSummary summary = summarise(info(), engine);
  EXPECT_TRUE(has(report_of(info(), engine), "failed: held_out, as said below"));
  EXPECT_FALSE(has(report_of(info(), engine), "★"));
  EXPECT_TRUE(has(summary_text(kReportStyle, summary, {}, "runs/copy-1"), "1.2e-3 off on n1000"));
}

// What noise kept from a certificate is right: it was not thrown out.
TEST(ReportText, NoiseThrowsNothingOut) {
  evaluate::Certificate noisy = search::certificate(true);
  noisy.passed = false;
  noisy.checks.push_back({"a_a_ratio", false, "1.2 (0.9 to 1.5)", nullptr});
  const std::string text = report_of(info(), three_steps(nullptr, {noisy}));
  EXPECT_TRUE(has(text, "★ do wide")) << text;
  EXPECT_FALSE(has(text, "thrown out")) << text;
}

// Ctrl-C comes while a cycle is under way: its figures are not in the tree yet.
TEST(ReportText, AStoppedRunShowsTheFiguresOfItsBestStep) {
  Engine engine = begun();
  attempt(engine, "a", search::measured(0.5, 5.0));
  ASSERT_FALSE(engine.ended());
  const RunSummary summary = summarise(info(), engine);
  ASSERT_EQ(summary.path.size(), 2u);
  EXPECT_EQ(summary.path[1].score, 0.5);
  EXPECT_EQ(summary.path[1].measured_gain, 5.0);
  EXPECT_EQ(summary.path[1].program, search::program("a").hash());
  const std::string text = report_of(info(), engine);
  EXPECT_TRUE(has(text, "do tile    0.50x  5.00x      2.00x\n")) << text;
  EXPECT_TRUE(has(text, "★ do tile")) << text;
}

}  // namespace
}  // namespace ksearch::report
