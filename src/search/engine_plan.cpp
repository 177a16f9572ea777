// The planner's part: when it is asked, and what becomes of its edits.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "search/engine_state.h"

namespace ksearch::search {
namespace {

using base::Match;

/// Proposals in a row that may be refused before the planner is left alone until the next cycle.
constexpr int kPlanRefusals = 3;

}  // namespace

std::string Engine::State::best_node() const {
  const tree::Node* best = &tree.root();
  double score = 0;
  for (const tree::Node* node : tree.nodes()) {
    if (node->is_root() || !node->closed() || node->ours.score.value_or(0) <= score) continue;
    best = node;
    score = *node->ours.score;
  }
  return best->id;
}

std::set<std::string, std::less<>> Engine::State::nodes_in_use() const {
  std::set<std::string, std::less<>> ids;
  for (const Cycle& cycle : cycles) {
    const bool working = cycle.step == Cycle::Step::coding || cycle.step == Cycle::Step::evaluating;
    if (working) ids.insert(cycle.report.node_id);
  }
  return ids;
}

View Engine::State::view() const {
  View view{
      tree, {config.difficulty_limit, config.give_up_after}, {}, best_node(), config.frontier_low};
  const auto in_use = nodes_in_use();
  for (const tree::Node* node : tree::frontier(tree, view.rules)) {
    if (!in_use.contains(node->id)) view.frontier.push_back(node);
  }
  return view;
}

int Engine::State::tried_since_best() const {
  const auto it = std::ranges::find(programs, best, &ProgramRecord::hash);
  return it == programs.end() ? static_cast<int>(programs.size())
                              : static_cast<int>(programs.end() - it) - 1;
}

void Engine::State::ask_propose() {
  proposed_at = cycles_ended;
  engineer::PlanRequest plan;
  plan.kind = engineer::PlanRequest::Kind::propose;
  plan.task = config.task;
  plan.target = config.target;
  plan.revision = tree.revision();
  plan.new_nodes = config.new_nodes;
  if (tree.size() == 1) plan.new_nodes = std::max(plan.new_nodes, config.first_nodes);
  plan.best_node = best_node();
  plan.tried_since_best = tried_since_best();
  if (const auto* record = find_program(program_of(tree.at(plan.best_node))))
    plan.program = tried(*record);
  proposing = ask(std::move(plan));
}

void Engine::State::ask_revise(Cycle& cycle) {
  engineer::PlanRequest plan;
  plan.kind = engineer::PlanRequest::Kind::revise;
  plan.task = config.task;
  plan.target = config.target;
  plan.revision = tree.revision();
  plan.new_nodes = config.new_nodes;
  plan.best_node = best_node();
  plan.tried_since_best = tried_since_best();
  plan.cycle = cycle.report;
  const std::string& shown =
      cycle.report.best_program.empty() ? cycle.last_program : cycle.report.best_program;
  if (const auto* record = find_program(shown)) plan.program = tried(*record);
  cycle.step = Cycle::Step::revising;
  cycle.request = ask(std::move(plan));
}

void Engine::State::on_plan(Request request, const engineer::PlanReply& reply) {
  if (const auto* gone = std::get_if<engineer::Lost>(&reply.what)) {
    const auto it = std::ranges::find(requests, request.id, &Request::id);
    return on_lost(*it, gone->reason, reply.usage);
  }
  const auto& plan = std::get<engineer::PlanRequest>(request.what);
  close_request(request.id);
  for (const std::string& text : reply.notes) note(text);
  if (proposing == request.id) proposing = 0;
  std::erase_if(cycles, [&](const Cycle& cycle) {
    return cycle.step == Cycle::Step::revising && cycle.request == request.id;
  });
  std::visit(Match{[&](const tree::EditScript& script) {
                     announce_answer(request, "edits",
                                     fmt::format("{} operations", script.ops.size()), reply.usage);
                     plans_refused = 0;
                     apply_edits(script, plan.revision, plan.new_nodes, "planner");
                   },
                   [&](const engineer::Nothing& nothing) {
                     announce_answer(request, "nothing", nothing.why, reply.usage);
                     plans_refused = 0;
                   },
                   [&](const engineer::Refused& refused) {
                     announce_answer(request, "refused", refused.why, reply.usage);
                     // An answer that cannot be used is no "nothing more": asked again, not for
                     // ever.
                     const bool propose = plan.kind == engineer::PlanRequest::Kind::propose;
                     if (propose && ++plans_refused < kPlanRefusals) proposed_at = -1;
                   },
                   [&](const engineer::Lost&) {}},
             reply.what);
}

void Engine::State::apply_edits(const tree::EditScript& script, std::uint64_t seen, int new_nodes,
                                const char* by) {
  const tree::EditOptions options{.seen_revision = seen,
                                  .new_nodes = new_nodes,
                                  .round = cycles_ended,
                                  .in_use = nodes_in_use()};
  const tree::EditReport report = tree::apply(tree, script, options);
  for (const tree::Change& change : report.changes) {
    if (change.kind == tree::Change::Kind::removed) {
      emit(event::NodePruned{change.node_id, change.why});
      continue;
    }
    const tree::Node* node = tree.find(change.node_id);
    if (!node) continue;  // changed, then removed by the same script
    const tree::Action& action = node->action;
    if (change.kind == tree::Change::Kind::inserted) {
      emit(event::NodeInserted{node->id, node->parent, action.title, action.difficulty,
                               action.score, node->rating, action.expected});
    } else {
      emit(event::NodeUpdated{node->id, change.fields, action.difficulty, action.score,
                              node->rating, action.expected, by});
    }
  }
  for (const tree::Refused& refused : report.refused) {
    emit(event::EditRefused{refused.index, refused.op, std::string(tree::name(refused.label)),
                            refused.why});
  }
  for (const std::string& text : report.notes) note(text);
}

bool Engine::State::start_work() {
  if (static_cast<int>(cycles.size()) >= config.lanes || proposing != 0) return false;
  const View now = view();
  if (strategy->wants_plan(now) && proposed_at != cycles_ended) {
    ask_propose();
    return false;
  }
  if (now.frontier.empty()) {
    if (cycles.empty()) wind_down("the frontier is empty and the planner has nothing more");
    return false;
  }
  const base::Random random =
      base::Random(config.seed).fork(fmt::format("pick/{}", cycles_started));
  start_cycle(strategy->pick(now, random));
  return true;
}

}  // namespace ksearch::search
