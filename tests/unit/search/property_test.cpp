// Engines under planners that make no sense: whatever is told, the invariants hold.
#include <gtest/gtest.h>

#include <set>

#include "tree/frontier.h"
#include "tree/world_model.h"
#include "unit/search/scripted.h"

namespace ksearch::search {
namespace {

using namespace std::chrono_literals;

void check_invariants(const Engine& engine, int lanes) {
  const tree::Tree& tree = engine.tree();
  std::set<std::string> seen;
  for (const tree::Node* node : tree.nodes()) {
    ASSERT_TRUE(seen.insert(node->id).second) << node->id;
    ASSERT_EQ(node->is_root(), node == &tree.root());
    if (node->is_root()) continue;
    ASSERT_TRUE(seen.contains(node->parent)) << node->id;  // parents first: no cycle
    if (node->closed()) {
      ASSERT_TRUE(tree.at(node->parent).closed()) << node->id;
      const ProgramRecord* record = engine.program(*node->solution.solution_id);
      ASSERT_TRUE(record && record->outcome && record->outcome->passed()) << node->id;
      ASSERT_EQ(record->node_id, node->id);
    }
    ASSERT_GE(node->action.difficulty, 1);
    ASSERT_LE(node->action.difficulty, 5);
    ASSERT_TRUE(node->action.score >= 0 && node->action.score <= 1) << node->action.score;
    ASSERT_LE(node->ours.failed_cycles, node->ours.cycles);
    ASSERT_FALSE(node->action.title.empty());
  }
  int evaluated = 0;
  std::set<std::string> hashes;
  for (const ProgramRecord& record : engine.programs()) {
    ASSERT_TRUE(hashes.insert(record.hash).second);
    if (record.cycle > 0 && record.outcome) ++evaluated;
    if (record.outcome && record.outcome->passed() && record.cycle > 0) {
      ASSERT_GE(engine.best()->outcome->score()->value, record.outcome->score()->value);
    }
  }
  ASSERT_EQ(engine.spent().evaluations, evaluated);
  std::set<RequestId> ids;
  int working = 0;
  for (const Request& request : engine.requests()) {
    ASSERT_TRUE(ids.insert(request.id).second);
    if (kind(request) == "code" || kind(request) == "evaluate") ++working;
  }
  ASSERT_LE(working, lanes);
  ASSERT_EQ(engine.ended(), engine.requests().empty());
  ASSERT_EQ(engine.ended(), !engine.status().empty());
}

/// Answers open requests in random order, with expiries, second answers and edits between.
void run_wildly(std::uint64_t seed, const Config& c) {
  Scripted scripted(seed, true);
  base::ManualClock clock;
  const Hands h = hands(scripted, clock, 1s);
  base::Random random(seed);
  Engine engine = Engine::make(c).value();
  std::vector<Told> told;
  const auto tell = [&](decltype(Told::what) what) {
    told.push_back({clock.now(), std::move(what)});
    engine.tell(told.back());
    check_invariants(engine, c.lanes);
  };
  Started started;
  started.root_program = program("naive");
  tell(started);
  for (int step = 0; step < 3000 && !engine.ended(); ++step) {
    if (testing::Test::HasFatalFailure()) return;
    const double dice = random.unit();
    const Request request = engine.requests()[random.below(engine.requests().size())];
    if (dice < 0.03) {
      tell(Expired{random.below(request.id + 2)});
    } else if (dice < 0.06) {
      const auto nodes = engine.tree().nodes();
      const std::string id = nodes[random.below(nodes.size())]->id;
      tell(Edited{{{idea(id, fmt::format("person{}", step), random.unit()),
                    tree::update_op(id, {{"notes", "?"}}), tree::prune_op(id, "?")},
                   {}}});
    } else if (dice < 0.09) {
      tell(Answered{random.below(request.id + 2), engineer::CodeReply{engineer::Exhausted{}}});
    } else {
      Answered answered{request.id, engineer::PlanReply{}};
      if (const auto* plan = std::get_if<engineer::PlanRequest>(&request.what)) {
        answered.reply = scripted.plan(*plan, engine.tree());
      } else if (const auto* code = std::get_if<engineer::CodeRequest>(&request.what)) {
        answered.reply = scripted.code(*code);
      } else if (const auto* evaluate = std::get_if<EvaluateRequest>(&request.what)) {
        answered.reply = h.evaluate(evaluate->job, nullptr);
      } else {
        answered.reply = h.certify(std::get<CertifyRequest>(request.what), nullptr);
      }
      tell(std::move(answered));
    }
  }
  ASSERT_TRUE(engine.ended()) << "seed " << seed;
  // The state is a fold of what was told.
  EXPECT_EQ(replay(c, told).value().state(), engine.state());
}

class Wild : public testing::TestWithParam<std::string_view> {};

TEST_P(Wild, InvariantsHoldAndTheStateIsAFold) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Config c = config();
    c.strategy = GetParam();
    c.seed = seed;
    c.lanes = 1 + static_cast<int>(seed % 3);
    c.limits.evaluations = 25;
    c.stagnation = 3;
    run_wildly(seed, c);
    if (HasFatalFailure()) return;
  }
}

// Every strategy there is must pass.
INSTANTIATE_TEST_SUITE_P(Strategies, Wild, testing::ValuesIn(strategy_names()),
                         [](const auto& info) { return std::string(info.param); });

/// A run with recorded answers leaves the same tree, byte for byte.
TEST(Determinism, SameSeedAndOutcomesSameTree) {
  const auto tree_of = [](std::uint64_t seed) {
    Config c = config();
    c.strategy = "random";
    c.seed = seed;
    c.limits.evaluations = 20;
    Scripted scripted(7, true);
    base::ManualClock clock;
    Engine engine = Engine::make(c).value();
    const DriverOptions options{.clock = &clock};
    EXPECT_TRUE(run_one_at_a_time(engine, {}, hands(scripted, clock, 1s), options).has_value());
    return base::to_text(tree::world_model_json(engine.tree()));
  };
  EXPECT_EQ(tree_of(3), tree_of(3));
  EXPECT_NE(tree_of(3), tree_of(4));
}

}  // namespace
}  // namespace ksearch::search
