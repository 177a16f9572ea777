#include "evaluate/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "scale_task.h"

namespace ksearch::evaluate {
namespace {

using testing::FakeCall;
using testing::scale;
using testing::scale_program;
using testing::ScaleSession;

template <class T>
const T& verdict_of(const kernel::Outcome& o) {
  EXPECT_TRUE(std::holds_alternative<T>(o.verdict)) << kernel::summary(o);
  static const T none{};
  const T* v = std::get_if<T>(&o.verdict);
  return v ? *v : none;
}

TEST(Session, AnHonestProgramIsMeasuredAgainstNaive) {
  ScaleSession s;
  s.add("fast", scale, 1e6);
  s.open();
  EXPECT_EQ(s.session->baselines().baseline, "naive");
  const kernel::Outcome o = s.judge("fast");
  const auto& m = verdict_of<kernel::Measured>(o);
  EXPECT_EQ(o.stage, kernel::Stage::timing);
  EXPECT_EQ(m.baseline, "naive");
  EXPECT_NEAR(m.score.value, 4.0, 0.1);
  EXPECT_LT(m.score.low, m.score.value);
  EXPECT_GT(m.score.high, m.score.value);
  ASSERT_EQ(m.workloads.size(), 2u);
  EXPECT_NEAR(m.workloads[0].median_ns, 1.01e6, 1e4);
  EXPECT_GT(o.measurements, 0);
}

TEST(Session, TheNaiveProgramIsTheRootAndIsOne) {
  ScaleSession s;
  s.open();
  const auto& m = verdict_of<kernel::Measured>(s.session->naive_outcome());
  EXPECT_EQ(m.score.value, 1.0);
  EXPECT_EQ(m.ratios.at("naive").low, 1.0);
  EXPECT_EQ(kernel::kind(s.judge("naive")), "Measured");
  EXPECT_EQ(kernel::kind(s.judge("naive")), "Duplicate");
}

TEST(Session, AnExpertThatIsAProgramIsTheBaseline) {
  ScaleSession s;
  s.add("library", scale, 1.5e6);
  s.add("slow library", scale, 3e6);
  s.add(
      "wrong library",
      [](const FakeCall& c) {
        for (float& o : c.as("out")) o = 1;
      },
      1e3);
  for (const char* name : {"library", "slow library", "wrong library"}) {
    task::Expert e;
    e.name = name;
    e.program = scale_program(s.task.definition, name);
    s.task.experts.push_back(std::move(e));
  }
  s.add("fast", scale, 1e6);
  s.open();
  const Baselines& b = s.session->baselines();
  EXPECT_EQ(b.baseline, "expert");
  EXPECT_EQ(b.best[0].expert, "library");
  EXPECT_EQ(b.best[1].expert, "library");
  int wrong = 0;
  for (const ExpertResult& e : b.experts)
    wrong += e.expert == "wrong library" && !e.why_not.empty();
  EXPECT_EQ(wrong, 2);
  const kernel::Outcome outcome = s.judge("fast");
  const auto& m = verdict_of<kernel::Measured>(outcome);
  EXPECT_EQ(m.baseline, "expert");
  EXPECT_NEAR(m.score.value, 1.5, 0.03);
  EXPECT_EQ(m.workloads[0].expert, "library");
  EXPECT_NEAR(m.workloads[0].ratios.at("naive").value, 4, 0.1);
  EXPECT_GE(m.workloads[0].ratios.at("expert").pairs, 6);
}

TEST(Session, TheParentIsTimedInTurnsWithTheProgram) {
  ScaleSession s;
  s.add("first", scale, 2e6);
  s.add("second", scale, 1e6);
  s.open();
  s.judge("first");
  const auto outcome = s.judge("second", "{}", scale_program(s.task.definition, "first"));
  const auto& m = verdict_of<kernel::Measured>(outcome);
  EXPECT_NEAR(m.ratios.at("parent").value, 2.0, 0.05);
}

TEST(Session, ZerosAreWrong) {
  ScaleSession s;
  s.add(
      "zeros",
      [](const FakeCall& c) {
        for (float& o : c.as("out")) o = 0;
      },
      1e3);
  s.open();
  const auto o = s.judge("zeros");
  const auto& w = verdict_of<kernel::WrongResult>(o);
  EXPECT_EQ(o.stage, kernel::Stage::tiny);
  EXPECT_EQ(o.workload, "t1");
  EXPECT_EQ(w.output, "out");
}

TEST(Session, HalfOfTheWorkIsFoundOnTinyShapes) {
  ScaleSession s;
  s.add(
      "half",
      [](const FakeCall& c) {
        const auto x = c.as("x"), w = c.as("w"), out = c.as("out");
        for (std::size_t i = 0; i < (out.size() + 1) / 2; ++i) out[i] = x[i] * w[i];
      },
      1e3);
  s.open();
  const auto o = s.judge("half");
  const auto& w = verdict_of<kernel::WrongResult>(o);
  EXPECT_EQ(o.workload, "t33");
  EXPECT_NE(w.why.find("16 were never written"), std::string::npos) << w.why;
  EXPECT_NE(w.why.find("index 0 (n) is 17 or more"), std::string::npos) << w.why;
}

TEST(Session, StressedInputsFindWhatTheUsualOnesDoNot) {
  ScaleSession s;
  s.add(
      "clamps",
      [](const FakeCall& c) {
        const auto x = c.as("x"), w = c.as("w"), out = c.as("out");
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::min(x[i], 20.0f) * w[i];
      },
      1e3);
  s.open();
  const auto o = s.judge("clamps");
  const auto& w = verdict_of<kernel::WrongResult>(o);
  EXPECT_NE(w.why.find("(inputs of stress[0])"), std::string::npos) << w.why;
}

TEST(Session, AnAnswerKeptByPointerIsFound) {
  ScaleSession s;
  auto seen = std::make_shared<std::set<const void*>>();
  s.add(
      "cache",
      [seen](const FakeCall& c) {
        if (seen->insert(c.as("out").data()).second) scale(c);
      },
      1e3);
  s.open();
  const auto o = s.judge("cache");
  const auto& w = verdict_of<kernel::WrongResult>(o);
  EXPECT_NE(w.why.find("is something kept between calls"), std::string::npos) << w.why;
}

TEST(Session, ACheatThatBeginsWithTheTimingIsFoundThere) {
  ScaleSession s;
  // Right until it has been called 30 times: no check is left by then but those of timed batches.
  s.add(
      "patient",
      [](const FakeCall& c) {
        if (c.number < 30) return scale(c);
        for (float& o : c.as("out")) o = 1.5f;
      },
      1e6);
  s.add(
      "lazy",
      [](const FakeCall& c) {
        if (c.number < 30) scale(c);
      },
      1e6);
  s.open();
  for (const char* name : {"patient", "lazy"}) {
    const auto o = s.judge(name);
    EXPECT_EQ(kernel::kind(o), "WrongResult") << name << ": " << kernel::summary(o);
    EXPECT_EQ(o.stage, kernel::Stage::timing);
  }
}

TEST(Session, AChangedInputIsToldByName) {
  ScaleSession s;
  s.add(
      "mutates",
      [](const FakeCall& c) {
        scale(c);
        c.as("w")[0] = 1;
      },
      1e3);
  s.open();
  EXPECT_EQ(verdict_of<kernel::InputChanged>(s.judge("mutates")).tensor, "w");
}

TEST(Session, CanariesAreFindings) {
  ScaleSession s;
  s.add("past", scale, 1e3);
  s.target.behaviours["past"].canaries = {
      {"out_of_bounds", "out", "a byte past the end was changed"}};
  s.open();
  const auto o = s.judge("past");
  EXPECT_EQ(verdict_of<kernel::Unsafe>(o).findings.at(0).buffer, "out");
}

TEST(Session, AHangEndsAtTenTimesNaiveAndTwoSeconds) {
  ScaleSession s;
  s.add("hangs", scale, 1e3);
  s.target.behaviours["hangs"].ns = [](const FakeCall& c) {
    return c.axis("n") > 100 ? 1e13 : 1e3;
  };
  s.open();
  const auto o = s.judge("hangs");
  EXPECT_EQ(o.workload, "f1000");
  // Two calls of (10 * 4 ms + 2 s).
  EXPECT_NEAR(verdict_of<kernel::TimedOut>(o).limit_seconds, 2 * 2.04, 0.01);
}

TEST(Session, CompileErrorsAndForbiddenSourcesEndEarly) {
  ScaleSession s;
  s.open();
  EXPECT_EQ(s.judge("does not exist").stage, kernel::Stage::compile);
  const auto o = s.judge("forbidden");
  EXPECT_EQ(verdict_of<kernel::Rejected>(o).by, "static");
  EXPECT_EQ(o.stage, kernel::Stage::check);
}

TEST(Session, DuplicatesAreToldWithoutRunning) {
  ScaleSession s;
  s.add("fast", scale, 1e6);
  s.open();
  const std::string first = scale_program(s.task.definition, "fast").hash();
  s.judge("fast");
  const int builds = s.target.builds;
  EXPECT_EQ(verdict_of<kernel::Duplicate>(s.judge("fast")).of, first);
  EXPECT_EQ(s.target.builds, builds);
}

TEST(Session, WhatWasLostMayBeAskedAgain) {
  ScaleSession s;
  s.add("fast", scale, 1e6);
  s.open();
  s.target.lose_next_start = true;
  EvaluateRequest request{scale_program(s.task.definition, "fast"), {}, {}, {}};
  const auto lost = s.session->evaluate(request, [](std::string_view) {});
  ASSERT_TRUE(std::holds_alternative<kernel::Lost>(lost));
  EXPECT_EQ(std::get<kernel::Lost>(lost).reason, "fake: no process could be started");
  EXPECT_EQ(kernel::kind(s.judge("fast")), "Measured");
}

TEST(Session, FasterThanTheMachineIsRejected) {
  ScaleSession s;
  s.add("too fast", scale, 1.0);
  s.target.device_.float32_flops = 1e11;  // 4096 flops: 41 ns at least
  s.open();
  const auto o = s.judge("too fast");
  const auto& r = verdict_of<kernel::Rejected>(o);
  EXPECT_EQ(r.by, "timing");
  EXPECT_NE(r.why.find("the work cannot have been done"), std::string::npos) << r.why;
}

TEST(Session, FasterThanDataSaysIsNotedWhereNothingWasMeasured) {
  ScaleSession s;
  s.add("too fast", scale, 1.0);
  s.target.device_.float32_flops = 1e11;
  s.target.device_.source = "knowledge/hardware/some.json";
  s.options.ceilings_judge = false;
  s.open();
  const auto o = s.judge("too fast");
  verdict_of<kernel::Measured>(o);
  ASSERT_FALSE(o.notes.empty());
  EXPECT_NE(o.notes[0].find("as knowledge/hardware/some.json says is possible"), std::string::npos)
      << o.notes[0];
}

TEST(Session, WhatWatchingFindsDecidesBeforeAnythingIsTimed) {
  ScaleSession s;
  s.add("racy", scale, 1e6);
  bool asked_for_all = true;
  s.options.watch = [&](const kernel::Program& program, bool whole,
                        std::string& at) -> Tried<void> {
    asked_for_all = whole;
    if (program.sources[0].text != "racy") return {};
    at = "t33";
    return verdict(kernel::Unsafe{{{"race", "out", "two threads write it"}}});
  };
  s.open();
  const auto o = s.judge("racy");
  EXPECT_EQ(verdict_of<kernel::Unsafe>(o).findings[0].kind, "race");
  EXPECT_EQ(o.workload, "t33");
  EXPECT_EQ(o.stage, kernel::Stage::tiny);
  EXPECT_FALSE(asked_for_all);
}

TEST(Session, AnExpertThatStandsForOneThatRunsIsLeftOut) {
  ScaleSession s;
  s.add("library", scale, 1.5e6);
  s.add("rebuilt", scale, 1e6);
  for (const char* name : {"library", "rebuilt"}) {
    task::Expert e;
    e.name = name;
    e.program = scale_program(s.task.definition, name);
    if (e.name == "rebuilt") e.stands_for = "library";
    s.task.experts.push_back(std::move(e));
  }
  task::Expert elsewhere;
  elsewhere.name = "an operation of another target's library";
  elsewhere.operation.emplace();
  s.task.experts.push_back(std::move(elsewhere));
  s.open();
  for (const ExpertResult& e : s.session->baselines().experts) EXPECT_EQ(e.expert, "library");
  EXPECT_EQ(s.session->baselines().best[0].expert, "library");
}

TEST(Session, TunablesAreChosenByWorkload) {
  ScaleSession s;
  s.add("tuned", scale, 1e6);
  s.target.behaviours["tuned"].ns = [](const FakeCall& c) {
    const bool large = c.define("B") == "64", long_rows = c.axis("n") > 2000;
    return large == long_rows ? 1e6 : 2e6;
  };
  s.open();
  const auto o = s.judge("tuned", R"({"B": [16, 64]})");
  const auto& m = verdict_of<kernel::Measured>(o);
  ASSERT_EQ(o.select.size(), 2u);
  EXPECT_EQ(o.select[0].when->text(), "n <= 2023");
  EXPECT_EQ(o.select[0].tunables.at("B"), 16);
  EXPECT_EQ(o.select[1].tunables.at("B"), 64);
  EXPECT_NEAR(m.score.value, 4.0, 0.15);
}

TEST(Session, ATunableChoiceThatIsWrongFailsTheProgram) {
  ScaleSession s;
  s.add(
      "one wrong",
      [](const FakeCall& c) {
        scale(c);
        if (c.define("B") == "64") c.as("out")[0] += 1;
      },
      1e6);
  s.open();
  const auto o = s.judge("one wrong", R"({"B": [16, 64]})");
  EXPECT_EQ(kernel::kind(o), "WrongResult");
  ASSERT_EQ(o.notes.size(), 1u);
  EXPECT_EQ(o.notes[0], "with tunables B=64");
}

TEST(Session, AProgramMuchSlowerThanItsParentEndsEarly) {
  ScaleSession s;
  s.add("first", scale, 1e6);
  s.add("slow", scale, 3e6);
  s.options.timing = std::chrono::milliseconds(10000);
  s.options.ratio_width = 1e-6;
  s.open();
  s.judge("first");
  const auto o = s.judge("slow", "{}", scale_program(s.task.definition, "first"));
  const auto& m = verdict_of<kernel::Measured>(o);
  EXPECT_EQ(m.workloads[0].samples_ns.size(), 6u);  // three rounds
  EXPECT_NEAR(m.ratios.at("parent").value, 1 / 3.0, 0.02);
}

TEST(Session, AFloorThatIsMostOfTheTimeIsSaid) {
  ScaleSession s;
  s.add("short", scale, 3e3);
  s.open();
  const auto o = s.judge("short");
  ASSERT_FALSE(o.notes.empty());
  EXPECT_NE(o.notes[0].find("launching alone takes 1 of 3"), std::string::npos) << o.notes[0];
}

TEST(Session, AWrongNaiveProgramIsAnError) {
  ScaleSession s;
  s.add(
      "naive",
      [](const FakeCall& c) {
        for (float& o : c.as("out")) o = 0;
      },
      1e6);
  const auto opened = Session::open(s.options, [](std::string_view) {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().where, "naive program on t1");
  EXPECT_EQ(opened.error().todo, "the search starts from it, so it must be right");
}

TEST(Session, ATaskOnWhichZerosPassIsRefused) {
  ScaleSession s;
  s.task.definition.generate[0].settings = base::Json{{"mean", 0}, {"std", 0}};
  const auto opened = Session::open(s.options, [](std::string_view) {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text().find("zeros pass on f1000"), std::string::npos)
      << opened.error().text();
}

TEST(Session, AWinnerIsCertified) {
  ScaleSession s;
  s.add("library", scale, 1.5e6);
  task::Expert e;
  e.name = "library";
  e.program = scale_program(s.task.definition, "library");
  s.task.experts.push_back(std::move(e));
  s.add("fast", scale, 1e6);
  s.open();
  const auto c =
      s.session->certify(scale_program(s.task.definition, "fast"), {}, [](std::string_view) {});
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_TRUE(c->passed) << c->summary();
  std::set<std::string> names;
  for (const auto& check : c->checks) names.insert(check.name);
  EXPECT_EQ(names, (std::set<std::string>{"held_out", "poison", "inputs_unchanged", "repeatable",
                                          "trivial_answers", "ghost_replay", "sensitivity",
                                          "a_a_ratio", "empty_floor", "ratio", "roofline",
                                          "fresh_inputs", "warm_cache"}));
  EXPECT_NEAR(c->heldout_ratio.value, 1.5, 0.05);
  EXPECT_EQ(c->heldout.size(), 1u);
  EXPECT_EQ(c->feedback.size(), 2u);
  EXPECT_TRUE(c->basis.contains("inputs"));
  EXPECT_TRUE(parse_certificate(to_json(*c), "c"));
}

TEST(Session, AProgramThatKnowsTheFeedbackShapesOnlyIsNotCertified) {
  ScaleSession s;
  s.add(
      "special",
      [](const FakeCall& c) {
        scale(c);
        if (c.axis("n") == 777) c.as("out")[100] = 0;
      },
      1e6);
  s.open();
  EXPECT_EQ(kernel::kind(s.judge("special")), "Measured");
  const auto c =
      s.session->certify(scale_program(s.task.definition, "special"), {}, [](std::string_view) {});
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_FALSE(c->passed);
  EXPECT_EQ(c->summary().substr(0, 24), "failed: held_out: h777: ") << c->summary();
}

TEST(Session, ATermHiddenInTheToleranceIsFoundBySensitivity) {
  ScaleSession s;
  // w differs from 1 by less than the output's tolerance can see, and the program leaves it out.
  s.task.definition.generate[1].settings = base::Json{{"low", 1}, {"high", 1.00001}};
  s.add(
      "drops",
      [](const FakeCall& c) {
        const auto x = c.as("x"), out = c.as("out");
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = x[i];
      },
      1e6);
  s.task.definition.outputs[0].tolerance = kernel::Tolerance{.relative_rms = 1e-5};
  const auto opened = Session::open(s.options, [](std::string_view) {});
  // The same data makes a copy of x pass: such a task is refused before anything is searched.
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().text().find("a copy of x passes"), std::string::npos)
      << opened.error().text();
}

}  // namespace
}  // namespace ksearch::evaluate
