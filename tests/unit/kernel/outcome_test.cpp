#include "kernel/outcome.h"

#include <cmath>

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

Measured measured() {
  Measured m;
  m.baseline = "expert";
  m.score = {1.5, 1.4, 1.6, 12};
  m.ratios = {{"expert", m.score}, {"naive", {60, 58, 62, 12}}};
  WorkloadTiming w;
  w.workload = "a";
  w.samples_ns = {10, 11};
  w.median_ns = 10.5;
  w.ratios = {{"expert", m.score}};
  w.expert = "torch";
  w.roofline_fraction = 0.7;
  w.bound_by = "compute";
  w.tunables = {{"BK", 128}};
  m.workloads = {w};
  return m;
}

std::vector<Verdict> one_of_each() {
  return {Unparsable{"no plan"},
          Duplicate{"abc"},
          Unsupported{"cluster"},
          Rejected{"static", "asm"},
          CompileFailed{"k.cpp:1: error\nmore"},
          LimitExceeded{"memory", 3, 2},
          Crashed{"SIGSEGV"},
          TimedOut{2.5},
          Unsafe{{{"out_of_bounds", "out", "writes past the end of out"}}},
          InputChanged{"q"},
          WrongResult{"out", "out[0] is nan", std::nan(""), 1e-5},
          AssertionFailed{"reads <= 2", "3"},
          Verified{{{"registers", 12}}},
          Modelled{"apple-m1-max", "1", measured().workloads, "expert", {2, 1, 3, 4}, {}},
          measured()};
}

TEST(Outcome, EveryKindGoesThereAndBack) {
  const auto verdicts = one_of_each();
  ASSERT_EQ(verdicts.size(), std::variant_size_v<Verdict>);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_EQ(verdicts[i].index(), i);
    Outcome o;
    o.verdict = verdicts[i];
    o.stage = Stage::timing;
    o.workload = "w";
    o.measurements = 7;
    o.notes = {"n"};
    o.select = {{*Expr::parse("L < 3", "x"), {{"BK", 64}}}, {std::nullopt, {{"BK", 128}}}};
    const auto again = parse_outcome(to_json(o), "o");
    ASSERT_TRUE(again) << kind(o) << again.error().text();
    EXPECT_EQ(to_json(*again), to_json(o)) << kind(o);
    EXPECT_FALSE(summary(o).empty());
  }
}

TEST(Outcome, OnlyRightProgramsPass) {
  for (const Verdict& v : one_of_each()) {
    const Outcome o{v, Stage::timing, {}, {}, 0, {}};
    const bool right = kind(o) == "Verified" || kind(o) == "Measured" || kind(o) == "Modelled";
    EXPECT_EQ(o.passed(), right) << kind(o);
  }
}

TEST(Outcome, OnlyTimesGiveAScore) {
  EXPECT_EQ((Outcome{measured(), Stage::timing, {}, {}, 0, {}}.score()->value), 1.5);
  EXPECT_FALSE((Outcome{Verified{}, Stage::tiny, {}, {}, 0, {}}.score()));
}

TEST(Outcome, SummaryIsOneLine) {
  const Outcome o{CompileFailed{"k.cpp:1: error\nmore"}, Stage::compile, {}, {}, 0, {}};
  EXPECT_EQ(summary(o), "CompileFailed: k.cpp:1: error");
}

TEST(Outcome, SaysWhenATimeIsModelled) {
  const Outcome o{
      Modelled{"m1", "1", {}, "expert", {2, 1, 3, 4}, {}}, Stage::timing, {}, {}, 0, {}};
  EXPECT_NE(summary(o).find("modelled"), std::string::npos);
}

}  // namespace
}  // namespace ksearch::kernel
