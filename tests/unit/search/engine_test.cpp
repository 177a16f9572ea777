#include "search/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree/world_model.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;
using base::Json;

/// An engine with a hand on it: one line a move.
class Table {
 public:
  explicit Table(Config c = config(), bool rooted = true) : engine(Engine::make(c).value()) {
    Started started;
    if (rooted) started.root_program = program("naive");
    if (rooted) started.root_outcome = measured(0.1);
    tell(std::move(started));
  }

  void tell(decltype(Told::what) what, std::chrono::nanoseconds at = 0ns) {
    events = engine.tell({at, std::move(what)});
  }
  const Request& asked() const { return engine.requests().front(); }
  /// "plan 1", "code 2", ...
  std::string open() const {
    std::string text;
    for (const Request& request : engine.requests()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind(request), request.id);
    }
    return text;
  }
  template <class R>
  void answer(R reply, std::chrono::nanoseconds at = 0ns) {
    tell(Answered{asked().id, std::move(reply)}, at);
  }
  void plan(std::vector<Json> ops) { answer(edits(std::move(ops))); }
  void nothing() { answer(engineer::PlanReply{engineer::Nothing{}}); }
  void code(const std::string& text) { answer(engineer::CodeReply{program(text)}); }
  void exhausted() { answer(engineer::CodeReply{engineer::Exhausted{}}); }
  void outcome(kernel::Outcome o) { answer(kernel::EvaluateReply{std::move(o)}); }
  void certify(bool passed) { answer(CertifyReply{certificate(passed)}); }
  const engineer::CodeRequest& code_request() const {
    return std::get<engineer::CodeRequest>(asked().what);
  }
  const tree::Node& node(const char* id) const { return engine.tree().at(id); }
  /// Names of the last events.
  std::string heard() const {
    std::string text;
    for (const event::Event& e : events) text += (text.empty() ? "" : " ") + std::string(name(e));
    return text;
  }
  template <class E>
  const E* event() const {
    for (const event::Event& e : events) {
      if (const auto* found = std::get_if<E>(&e.what)) return found;
    }
    return nullptr;
  }

  Engine engine;
  std::vector<event::Event> events;
};

TEST(Engine, BeginsByAskingThePlanner) {
  Table t;
  EXPECT_EQ(t.heard(), "run_started asked");
  EXPECT_EQ(t.open(), "plan 1");
  const auto& plan = std::get<engineer::PlanRequest>(t.asked().what);
  EXPECT_EQ(plan.kind, engineer::PlanRequest::Kind::propose);
  EXPECT_EQ(plan.new_nodes, 3);
  EXPECT_EQ(plan.best_node, "root");
}

TEST(Engine, RunsACycleFromIdeaToCertificate) {
  Table t;
  t.plan({idea("root", "tile", 0.8, 2, 0.4)});
  EXPECT_EQ(t.heard(), "answered node_inserted cycle_started asked");
  EXPECT_EQ(t.open(), "code 2");
  EXPECT_EQ(t.code_request().node_id, "tile");
  EXPECT_EQ(t.code_request().attempt, 1);
  EXPECT_EQ(t.code_request().parent->program.sources[0].text, "naive");
  EXPECT_EQ(t.code_request().action->title, "do tile");

  t.code("tiled");
  EXPECT_EQ(t.open(), "evaluate 3");
  const auto& evaluate = std::get<EvaluateRequest>(t.asked().what);
  EXPECT_EQ(evaluate.job.parent->sources[0].text, "naive");
  t.outcome(measured(0.5, 5.0));
  EXPECT_EQ(t.heard(), "evaluated best_improved budget asked");
  EXPECT_EQ(t.code_request().attempt, 2);
  EXPECT_EQ(t.code_request().action->title, "do tile");  // K-Search drops it after the first pass
  EXPECT_EQ(t.code_request().best->hash, program("tiled").hash());
  EXPECT_EQ(t.code_request().last->hash, program("tiled").hash());

  t.exhausted();
  EXPECT_EQ(t.heard(), "answered cycle_ended node_closed asked");
  const tree::Node& tile = t.node("tile");
  EXPECT_EQ(tile.solution.solution_id, program("tiled").hash());
  EXPECT_EQ(tile.solution.parent_solution_id, program("naive").hash());
  EXPECT_EQ(tile.ours.score, 0.5);
  EXPECT_DOUBLE_EQ(*tile.ours.predicted_gain, 4.0);
  EXPECT_EQ(tile.ours.measured_gain, 5.0);
  EXPECT_EQ(tile.ours.cycles, 1);
  EXPECT_EQ(tile.solution.eval["status"], "passed");

  const auto& revise = std::get<engineer::PlanRequest>(t.asked().what);
  EXPECT_EQ(revise.kind, engineer::PlanRequest::Kind::revise);
  EXPECT_EQ(revise.best_node, "tile");
  EXPECT_EQ(revise.cycle->attempts.size(), 1u);
  EXPECT_EQ(revise.cycle->measured_gain, 5.0);
  t.nothing();
  EXPECT_EQ(std::get<engineer::PlanRequest>(t.asked().what).kind,
            engineer::PlanRequest::Kind::propose);
  t.nothing();
  EXPECT_EQ(t.open(), "certify 7");
  t.certify(true);
  EXPECT_TRUE(t.engine.ended());
  EXPECT_EQ(t.engine.status(), "passed");
  EXPECT_EQ(t.engine.end_reason(), "the frontier is empty and the planner has nothing more");
  EXPECT_EQ(t.engine.winner()->node_id, "tile");
  EXPECT_EQ(t.heard(), "certified run_ended");
  EXPECT_EQ(t.event<event::RunEnded>()->certificate, "passed");
  EXPECT_EQ(t.open(), "");
}

TEST(Engine, WithEnoughIdeasThePlannerIsNotAskedAgain) {
  Table t;
  t.plan({idea("root", "a", 0.9), idea("root", "b", 0.8), idea("root", "c", 0.7)});
  t.code("a1");
  t.outcome(measured(0.5));
  t.exhausted();
  t.plan({idea("a", "d", 0.1), idea("a", "e", 0.1)});  // the revision; a has an open child now
  EXPECT_EQ(t.code_request().node_id, "b");
}

TEST(Engine, ProposesWhereTheBestNodeHasNoOpenChild) {
  Table t;
  t.plan({idea("root", "a", 0.9), idea("root", "b", 0.8), idea("root", "c", 0.7)});
  t.code("a1");
  t.outcome(measured(0.5));
  t.exhausted();
  t.plan({idea("root", "d", 0.1)});
  EXPECT_EQ(std::get<engineer::PlanRequest>(t.asked().what).kind,
            engineer::PlanRequest::Kind::propose);
}

TEST(Engine, AFailedCycleIsHarderAndWorthHalf) {
  Table t;
  t.plan({idea("root", "a", 0.8, 4)});
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(t.code_request().attempt, i);
    t.code(fmt::format("v{}", i));
    t.outcome(wrong());
  }
  EXPECT_EQ(t.event<event::CycleEnded>()->how, "not_better");
  EXPECT_EQ(t.event<event::CycleEnded>()->attempts, 5);
  EXPECT_EQ(t.node("a").action.difficulty, 5);
  EXPECT_EQ(t.node("a").action.score, 0.4);
  EXPECT_EQ(t.node("a").ours.failed_cycles, 1);
  EXPECT_FALSE(t.node("a").closed());
  t.nothing();
  t.nothing();  // too hard, but there is nothing else
  EXPECT_EQ(t.code_request().node_id, "a");
  EXPECT_EQ(t.code_request().cycle_of_node, 2);
  EXPECT_EQ(t.code_request().last->hash, program("v5").hash());
  t.exhausted();
  EXPECT_EQ(t.node("a").action.difficulty, 5);
  EXPECT_EQ(t.node("a").ours.failed_cycles, 2);
  EXPECT_EQ(t.event<event::Note>()->text,
            "node a can no longer be reached: its action failed in 2 cycles");
  t.nothing();
  t.nothing();
  EXPECT_EQ(t.engine.status(), "nothing");
}

TEST(Engine, StagnatesAfterAttemptsWithoutImprovement) {
  Config c = config();
  c.stagnation = 2;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5, 5.0));  // better than the parent: only since_best counts from here
  t.code("v2");
  t.outcome(measured(0.6, 6.0));
  t.code("v3");
  t.outcome(measured(0.6, 6.0));
  t.code("v4");
  t.outcome(wrong());
  EXPECT_EQ(t.event<event::CycleEnded>()->how, "stagnated");
  EXPECT_EQ(t.node("a").solution.solution_id, program("v2").hash());
}

TEST(Engine, ImprovingWithoutBeatingTheParentEndsToo) {
  Config c = config();
  c.stagnation = 3;
  Table t(c);
  t.plan({idea("root", "a")});
  for (int i = 1; i <= 3; ++i) {
    t.code(fmt::format("v{}", i));
    t.outcome(measured(0.05 + 0.01 * i, 0.5 + 0.1 * i));
  }
  EXPECT_EQ(t.event<event::CycleEnded>()->how, "not_better");
  EXPECT_EQ(t.node("a").solution.solution_id, program("v3").hash());
  EXPECT_EQ(t.node("a").ours.measured_gain, 0.8);
}

TEST(Engine, TheSameCodeIsNotEvaluatedTwice) {
  Table t;
  t.plan({idea("root", "a")});
  t.code("int x = 1;");
  t.outcome(wrong());
  t.code("/* again */ int  x=1 ; // the same");
  EXPECT_EQ(t.event<event::Evaluated>()->outcome.notes[0],
            "that one: WrongResult on tiny: y[0] is 1, wanted 2");
  EXPECT_EQ(std::get<kernel::Duplicate>(t.event<event::Evaluated>()->outcome.verdict).of,
            program("int x = 1;").hash());
  EXPECT_EQ(t.engine.spent().evaluations, 1);
  EXPECT_EQ(t.code_request().attempt, 3);
  t.code("naive");  // the root's program is known as well
  EXPECT_EQ(t.engine.spent().evaluations, 1);
  EXPECT_EQ(t.engine.counts().outcomes.at("Duplicate"), 2);
}

TEST(Engine, ARefusalIsAnAttempt) {
  Table t;
  t.plan({idea("root", "a")});
  t.answer(engineer::CodeReply{engineer::Refused{"no code block"}});
  EXPECT_EQ(t.code_request().attempt, 2);
  EXPECT_EQ(t.code_request().last_refusal, "no code block");
  EXPECT_EQ(t.engine.counts().outcomes.at("Unparsable"), 1);
}

TEST(Engine, AProposalThatCannotBeUsedIsAskedForAgainButNotForEver) {
  Table t;
  for (const char* open : {"plan 2", "plan 3"}) {
    t.answer(engineer::PlanReply{engineer::Refused{"no JSON"}});
    EXPECT_EQ(t.open(), open);
  }
  t.answer(engineer::PlanReply{engineer::Refused{"no JSON"}});
  EXPECT_EQ(t.engine.status(), "nothing");
}

TEST(Engine, TheFirstTreeMayHaveMoreNodes) {
  Config c = config();
  c.first_nodes = 8;
  Table t(c);
  EXPECT_EQ(std::get<engineer::PlanRequest>(t.asked().what).new_nodes, 8);
  t.plan({idea("root", "a"), idea("root", "b"), idea("root", "c"), idea("root", "d")});
  EXPECT_EQ(t.engine.tree().size(), 5u);
}

TEST(Engine, AnAnswersNotesCallsAndBeliefsAreKept) {
  Table t;
  tree::EditScript script = std::get<tree::EditScript>(edits({idea("root", "a")}).what);
  script.kernel_summary = "bound by memory";
  t.answer(engineer::PlanReply{script, {10, 5, 0, 2, true}, {"a comma was forgiven"}});
  EXPECT_EQ(t.event<event::Note>()->text, "a comma was forgiven");
  EXPECT_EQ(t.engine.spent().calls, 2);
  EXPECT_EQ(t.engine.spent().tokens, 15);
  EXPECT_TRUE(t.engine.spent().tokens_estimated);
  EXPECT_EQ(t.engine.tree().kernel_summary, "bound by memory");
  t.answer(engineer::CodeReply{engineer::Lost{"net"}, {4, 0, 0, 1, true}});
  EXPECT_EQ(t.engine.spent().calls, 3) << "what was lost was paid for";
}

TEST(Engine, RequestsCarryTheirIdAndTheProgramInQuestion) {
  Table t;
  t.plan({idea("root", "a")});
  EXPECT_EQ(t.code_request().id, t.asked().id);
  t.code("int x;");
  t.outcome(measured(0.5));
  t.exhausted();
  const auto& plan = std::get<engineer::PlanRequest>(t.asked().what);
  EXPECT_EQ(plan.id, t.asked().id);
  EXPECT_EQ(plan.program->hash, program("int x;").hash());
}

TEST(Driver, AWaitThatIsGivenUpOnLeavingIsNotTold) {
  struct Waiting final : engineer::Planner {
    std::string name() const override { return "waiting"; }
    engineer::PlanReply plan(const engineer::PlanRequest&, const tree::Tree&) override {
      leaving = true;
      return {engineer::Lost{"stopped"}};
    }
    bool leaving = false;
  } planner;
  Engine engine = Engine::make(config()).value();
  base::ManualClock clock;
  Hands hands;
  hands.planner = &planner;
  DriverOptions options;
  options.clock = &clock;
  options.leave = [&] { return planner.leaving; };
  ASSERT_TRUE(run_one_at_a_time(engine, {}, hands, options));
  ASSERT_EQ(engine.requests().size(), 1u);
  EXPECT_EQ(engine.requests().front().asked, 1) << "nothing was lost";
}

TEST(Engine, SecondLateStrangeAndUnfitAnswersAreDroppedAndNoted) {
  Table t;
  t.tell(Answered{1, engineer::CodeReply{engineer::Exhausted{}}});
  EXPECT_EQ(t.event<event::Note>()->text,
            "the answer to request 1 (plan) is of another kind, dropped");
  t.plan({idea("root", "a")});
  t.tell(Answered{1, edits({idea("root", "b")})});
  EXPECT_EQ(t.event<event::Note>()->text, "a second or late answer to request 1 was dropped");
  t.tell(Answered{99, edits({})});
  EXPECT_EQ(t.event<event::Note>()->text,
            "an answer to request 99, which was never asked, was dropped");
  EXPECT_FALSE(t.engine.tree().contains("b"));
  EXPECT_EQ(t.open(), "code 2");
}

TEST(Engine, AnExpiredRequestIsAskedAgain) {
  Table t;
  t.tell(Expired{1});
  EXPECT_EQ(t.asked().asked, 2);
  t.tell(Expired{7});
  EXPECT_EQ(t.event<event::Note>()->text, "request 7 is not open");
}

TEST(Engine, WhatIsLostIsAskedAgainAndNobodyIsBlamed) {
  Table t;
  t.plan({idea("root", "a")});
  t.code("v1");
  t.answer(kernel::EvaluateReply{kernel::Lost{"ssh"}});
  EXPECT_EQ(t.open(), "evaluate 3");
  EXPECT_EQ(t.asked().asked, 2);
  EXPECT_EQ(t.engine.spent().evaluations, 0);
  t.outcome(measured(0.5));
  EXPECT_EQ(t.code_request().attempt, 2);
}

TEST(Engine, WhatIsLostAgainAndAgainStopsTheRun) {
  Config c = config();
  c.lost_limit = 2;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.code("v2");
  t.answer(kernel::EvaluateReply{kernel::Lost{"ssh"}});
  t.answer(kernel::EvaluateReply{kernel::Lost{"ssh"}});
  EXPECT_EQ(t.open(), "certify 6");
  EXPECT_EQ(t.node("a").solution.solution_id, program("v1").hash());
  t.answer(CertifyReply{kernel::Lost{"ssh"}});
  t.answer(CertifyReply{kernel::Lost{"ssh"}});
  EXPECT_EQ(t.engine.status(), "stopped");
  EXPECT_EQ(t.engine.end_reason(), "the certify request was lost 2 times: ssh");
  EXPECT_EQ(t.engine.winner(), nullptr);
  EXPECT_EQ(t.engine.best()->hash, program("v1").hash());
}

TEST(Engine, ARunThatEndedByALossGoesOnWhenItIsReopened) {
  Config c = config();
  c.lost_limit = 1;
  Table t(c);
  t.tell(Reopened{});
  EXPECT_EQ(t.event<event::Note>()->text, "the run has not ended: nothing to reopen");
  t.plan({idea("root", "a"), idea("root", "b")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.code("v2");
  t.answer(kernel::EvaluateReply{kernel::Lost{"ssh"}});
  t.certify(true);
  EXPECT_EQ(t.engine.status(), "stopped");
  ASSERT_TRUE(t.engine.can_reopen());
  t.tell(Reopened{});
  EXPECT_EQ(t.engine.phase(), Phase::searching);
  EXPECT_EQ(t.engine.winner(), nullptr);
  EXPECT_EQ(t.engine.best()->hash, program("v1").hash());
  while (std::holds_alternative<engineer::PlanRequest>(t.asked().what)) t.plan({});
  t.code("v2");
  ASSERT_TRUE(std::holds_alternative<EvaluateRequest>(t.asked().what)) << "no duplicate";
  t.outcome(measured(0.9));
  EXPECT_EQ(t.engine.best()->hash, program("v2").hash());
  t.tell(Stop{"enough", true});
  t.certify(true);
  EXPECT_EQ(t.engine.winner()->hash, program("v2").hash());
  EXPECT_FALSE(t.engine.can_reopen()) << "it was stopped";
}

TEST(Engine, TheEvaluationBudgetEndsTheRunAndBlamesNobody) {
  Config c = config();
  c.limits.evaluations = 2;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.code("v2");
  t.outcome(wrong());
  EXPECT_EQ(t.event<event::CycleEnded>()->how, "budget");
  EXPECT_EQ(t.node("a").solution.solution_id, program("v1").hash());
  EXPECT_EQ(t.open(), "certify 6");
  t.certify(true);
  EXPECT_EQ(t.engine.end_reason(), "budget: evaluations");
}

TEST(Engine, ANodeCutOffWithoutAPassIsNotBlamed) {
  Config c = config();
  c.limits.evaluations = 1;
  Table t(c);
  t.plan({idea("root", "a", 0.8, 2)});
  t.code("v1");
  t.outcome(wrong());
  EXPECT_EQ(t.node("a").action.difficulty, 2);
  EXPECT_EQ(t.node("a").ours.failed_cycles, 0);
  EXPECT_EQ(t.engine.status(), "nothing");
  EXPECT_EQ(t.event<event::RunEnded>()->why, "budget: evaluations");
}

TEST(Engine, WallTimeIsToldAndLeftOverIsPassedOn) {
  Config c = config();
  c.limits.wall = 60s;
  Table t(c);
  t.plan({idea("root", "a")});
  t.answer(engineer::CodeReply{program("v1")}, 20s);
  EXPECT_EQ(std::get<EvaluateRequest>(t.asked().what).job.time_left, 40s);
  t.tell(Elapsed{}, 59s);
  EXPECT_EQ(t.open(), "evaluate 3");
  t.tell(Elapsed{}, 60s);
  EXPECT_EQ(t.engine.status(), "nothing");
  EXPECT_EQ(t.engine.end_reason(), "budget: wall time");
}

TEST(Engine, TokensAndMoneyAreBudgetsToo) {
  Config c = config();
  c.limits.tokens = 100;
  Table tokens(c);
  tokens.answer(engineer::PlanReply{engineer::Nothing{}, {60, 40, 0}});
  EXPECT_EQ(tokens.engine.end_reason(), "budget: tokens");
  c = config();
  c.limits.cost_usd = 0.5;
  Table cost(c);
  cost.answer(engineer::PlanReply{tree::EditScript{{idea("root", "a")}, {}}, {60, 40, 0.5}});
  EXPECT_EQ(cost.engine.end_reason(), "budget: cost");
}

TEST(Engine, TimeNeverRunsBackwards) {
  Table t;
  t.tell(Elapsed{}, 10s);
  t.tell(Elapsed{}, 5s);
  EXPECT_EQ(t.engine.spent().wall, 10s);
}

TEST(Engine, AFailedCertificateGivesWayToTheNextBest) {
  Config c = config();
  c.limits.evaluations = 3;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.code("v2");
  t.outcome(measured(0.9));
  t.code("v3");
  t.outcome(measured(0.7));
  const auto rank = [&] { return std::get<CertifyRequest>(t.asked().what); };
  EXPECT_EQ(rank().program, program("v2").hash());
  t.certify(false);
  EXPECT_EQ(t.heard(), "certified note asked");
  EXPECT_EQ(rank().program, program("v3").hash());
  EXPECT_EQ(rank().rank, 2);
  t.certify(true);
  EXPECT_EQ(t.engine.status(), "passed");
  EXPECT_EQ(t.engine.winner()->hash, program("v3").hash());
}

TEST(Engine, WithNoCertificateThereIsNothing) {
  Config c = config();
  c.limits.evaluations = 1;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.certify(false);
  EXPECT_EQ(t.engine.status(), "nothing");
  EXPECT_EQ(t.event<event::RunEnded>()->certificate, "failed");
  EXPECT_EQ(t.event<event::RunEnded>()->why, "no program passed certification");
}

// The next best would fare no better.
TEST(Engine, ANoisyMachineEndsCertification) {
  Config c = config();
  c.limits.evaluations = 2;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.code("v2");
  t.outcome(measured(0.9));
  evaluate::Certificate noisy = certificate(false);
  noisy.checks = {{"held_out", true, "all right", nullptr}, {"a_a_ratio", false, "1.4", nullptr}};
  t.answer(CertifyReply{noisy});
  EXPECT_EQ(t.heard(), "certified run_ended");
  EXPECT_EQ(t.engine.status(), "nothing");
  EXPECT_EQ(t.event<event::RunEnded>()->best_program, program("v2").hash());
  EXPECT_EQ(t.event<event::RunEnded>()->certificate, "failed");
}

TEST(Engine, EndsAtTheRooflineFractionThatWasSet) {
  Config c = config();
  c.roofline_stop = 0.75;
  Table t(c);
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5, {}, 0.74));
  t.code("v2");
  t.outcome(measured(0.6, {}, 0.80));
  EXPECT_EQ(t.event<event::CycleEnded>()->how, "run ended");
  t.certify(true);
  EXPECT_EQ(t.engine.end_reason(),
            "the best program reaches 0.80 of the roofline on every workload");
}

TEST(Engine, AStopCertifiesWhatIsBestUnlessToldNotTo) {
  for (const bool certify : {true, false}) {
    Table t;
    t.plan({idea("root", "a")});
    t.code("v1");
    t.outcome(measured(0.5));
    t.tell(Stop{"Ctrl-C", certify});
    EXPECT_EQ(t.node("a").solution.solution_id, program("v1").hash());
    if (certify) t.certify(true);
    EXPECT_EQ(t.engine.status(), "stopped");
    EXPECT_EQ(t.engine.end_reason(), "stopped: Ctrl-C");
    EXPECT_EQ(t.engine.winner() != nullptr, certify);
  }
}

TEST(Engine, ASecondStopGivesUpTheCertificate) {
  Table t;
  t.plan({idea("root", "a")});
  t.code("v1");
  t.outcome(measured(0.5));
  t.tell(Stop{"Ctrl-C", true});
  EXPECT_EQ(t.open(), "certify 5");
  t.tell(Stop{"Ctrl-C", true});
  EXPECT_EQ(t.open(), "certify 5");
  t.tell(Stop{"Ctrl-C", false});
  EXPECT_EQ(t.engine.status(), "stopped");
}

TEST(Engine, NothingMovesAfterTheEnd) {
  Table t;
  t.nothing();
  EXPECT_EQ(t.engine.status(), "nothing");
  const Json before = t.engine.state();
  t.tell(Edited{{{idea("root", "a")}, {}}});
  EXPECT_EQ(t.heard(), "note");
  EXPECT_EQ(t.engine.state(), before);
}

TEST(Engine, TheRootsScoreFollowsFromTheFirstMeasurement) {
  Engine engine = Engine::make(config()).value();
  Started started;
  started.root_program = program("naive");
  engine.tell({0ns, started});
  engine.tell({0ns, Answered{1, edits({idea("root", "a")})}});
  engine.tell({0ns, Answered{2, engineer::CodeReply{program("v1")}}});
  EXPECT_FALSE(engine.tree().root().ours.score);
  engine.tell({0ns, Answered{3, kernel::EvaluateReply{measured(0.5)}}});
  EXPECT_DOUBLE_EQ(*engine.tree().root().ours.score, 0.1);
}

TEST(Engine, APersonMayEditWhileItRuns) {
  Table t;
  t.plan({idea("root", "a", 0.5)});
  t.tell(
      Edited{{{idea("root", "p1"), idea("root", "p2"), idea("root", "p3"), idea("root", "p4", 0.9),
               tree::prune_op("a", "no"), tree::update_op("a", {{"notes", "mine"}})},
              {}}});
  EXPECT_EQ(t.engine.tree().size(), 6u);
  EXPECT_EQ(t.event<event::EditRefused>()->label, "in_use");
  EXPECT_EQ(t.node("a").notes, "mine");
  EXPECT_EQ(t.open(), "code 2");
}

TEST(Engine, LanesWorkOnSeveralNodes) {
  Config c = config();
  c.lanes = 2;
  c.limits.evaluations = 2;
  Table t(c);
  t.plan({idea("root", "a", 0.9), idea("root", "b", 0.8), idea("root", "c", 0.7)});
  EXPECT_EQ(t.open(), "code 2, code 3");
  t.tell(Answered{3, engineer::CodeReply{program("b1")}});
  t.tell(Answered{2, engineer::CodeReply{program("a1")}});
  EXPECT_EQ(t.open(), "evaluate 4, evaluate 5");
  t.tell(Answered{5, kernel::EvaluateReply{measured(0.6)}});
  EXPECT_EQ(t.open(), "evaluate 4, code 6");
  t.tell(Answered{6, engineer::CodeReply{program("a2")}});  // the last one is taken
  EXPECT_EQ(t.open(), "evaluate 4, plan 7");
  t.tell(Answered{4, kernel::EvaluateReply{measured(0.5)}});
  EXPECT_EQ(t.open(), "certify 8");
  EXPECT_EQ(t.node("b").solution.solution_id, program("b1").hash());
}

TEST(Engine, CyclesThatComeToNoProgramEndTheRun) {
  Config c = config();
  c.barren_limit = 2;
  Table t(c);
  t.plan({idea("root", "a"), idea("root", "b"), idea("root", "c")});
  t.exhausted();
  t.nothing();
  t.nothing();
  t.exhausted();
  EXPECT_EQ(t.engine.end_reason(), "2 cycles in a row came to no evaluation");
}

TEST(Engine, AnImportedTreeKeepsItsScoresAndSaysWhatIsUnreachable) {
  Engine engine = Engine::make(config()).value();
  Started started;
  started.world_model = *base::parse_json(R"({"decision_tree": {"root_id": "root", "nodes": [
    {"node_id": "root"},
    {"node_id": "p", "parent_id": "root", "action": {"title": "p", "score_0_to_1": 0.9},
     "solution_ref": {"solution_id": "s", "eval": {"status": "passed", "mean_vs_baseline_factor": 0.7}}},
    {"node_id": "q", "parent_id": "p", "action": {"title": "", "score_0_to_1": 0.5}},
    {"node_id": "r", "parent_id": "nobody"}]}})",
                                          "w");
  std::vector<std::string> notes;
  for (const auto& e : engine.tell({0ns, started})) {
    if (const auto* n = std::get_if<event::Note>(&e.what)) notes.push_back(n->text);
  }
  EXPECT_EQ(engine.tree().at("p").ours.score, 0.7);
  EXPECT_THAT(notes,
              testing::UnorderedElementsAre("node r refused: unknown_node: there is no node nobody",
                                            "p keeps the score 0.7 of its file, measured elsewhere",
                                            "node q can never be reached: it has no action.title"));
}

TEST(Engine, AConfigOutOfRangeIsAnError) {
  Config c = config();
  c.difficulty_limit = 6;
  EXPECT_EQ(Engine::make(c).error().text(), "difficulty_limit: 6 is not within 1 to 5");
  c = config();
  c.strategy = "best";
  EXPECT_EQ(
      Engine::make(c).error().text(),
      "strategy: there is no strategy 'best' (strategies are ksearch, calibrated, greedy, random)");
}

TEST(Config, RoundTrip) {
  Config c = config();
  c.seed = 18446744073709551615ull;
  c.limits = {40, 180s, 1000, 2.5};
  c.lanes = 3;
  EXPECT_EQ(to_json(parse_config(to_json(c), "config").value()), to_json(c));
  Json with = to_json(c);
  with["colour"] = 1;
  EXPECT_FALSE(parse_config(with, "config").has_value());
}

}  // namespace
}  // namespace ksearch::search
