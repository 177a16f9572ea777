// One cycle: the engineer writes a program for one action, fixes and improves it, until it has
// nothing more or stagnates; then the node is closed with the cycle's best program, or blamed by
// rule.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/match.h"
#include "search/duplicate.h"
#include "search/engine_state.h"
#include "search/figures.h"

namespace ksearch::search {
namespace {

using base::Match;

/// What K-Search's own loader looks for in an eval: status, score, metrics.score.
base::Json eval_json(const kernel::Outcome& outcome) {
  base::Json eval{{"status", "passed"}};
  const auto score = outcome.score();
  if (!score) return eval;
  eval["score"] = score->value;
  eval["score_name"] = "geometric mean of baseline time / program time";
  eval["mean_vs_baseline_factor"] = score->value;
  if (const auto naive = ratio_to(outcome, "naive")) eval["speedup_factor"] = naive->value;
  eval["metrics"] = {{"score", score->value}, {"score_name", "vs_baseline"}};
  return eval;
}

}  // namespace

const ProgramRecord* Engine::State::find_program(const std::string& hash) const {
  const auto it = program_index.find(hash);
  return it == program_index.end() ? nullptr : &programs[it->second];
}

std::string Engine::State::program_of(const tree::Node& node) const {
  if (node.solution.solution_id) return *node.solution.solution_id;
  const bool rooted = node.is_root() && !programs.empty() && programs.front().cycle == 0;
  return rooted ? programs.front().hash : std::string();
}

engineer::Tried Engine::State::tried(const ProgramRecord& record) const {
  return {record.program, record.hash, record.outcome};
}

Cycle* Engine::State::cycle_of(RequestId request) {
  const auto it = std::ranges::find(cycles, request, &Cycle::request);
  return it == cycles.end() ? nullptr : &*it;
}

void Engine::State::start_cycle(const tree::Node& picked) {
  tree::Node node = picked;
  const tree::Node& parent = tree.at(node.parent);
  const auto from = parent.ours.score;
  node.ours.predicted_gain.reset();
  if (node.action.expected && from && *from > 0) {
    node.ours.predicted_gain = *node.action.expected / *from;
  }
  Cycle cycle;
  cycle.report.node_id = node.id;
  cycle.report.cycle = ++cycles_started;
  cycle.report.predicted_gain = node.ours.predicted_gain;
  cycle.parent_program = program_of(parent);
  for (const ProgramRecord& record : programs) {  // of an earlier cycle that failed
    if (record.node_id != node.id || record.cycle == 0) continue;
    cycle.last_program = record.hash;
    cycle.last_outcome = record.outcome;
  }
  emit(event::CycleStarted{cycle.report.cycle, node.id, node.parent, node.action.title});
  tree.active_leaf_id = node.id;
  tree.replace(std::move(node));
  cycles.push_back(std::move(cycle));
  ask_code(cycles.back());
}

void Engine::State::ask_code(Cycle& cycle) {
  const tree::Node& node = tree.at(cycle.report.node_id);
  engineer::CodeRequest code;
  code.task = config.task;
  code.target = config.target;
  code.dialect = config.dialect;
  code.node_id = node.id;
  code.cycle_of_node = node.ours.cycles + 1;
  code.attempt = static_cast<int>(cycle.report.attempts.size()) + 1;
  code.action = node.action;
  code.action_notes = node.notes;
  if (const auto* parent = find_program(cycle.parent_program)) code.parent = tried(*parent);
  const View now = view();
  for (const std::string& id : strategy->inspirations(now, node)) {
    if (static_cast<int>(code.inspirations.size()) == config.inspirations) break;
    const auto* record = find_program(program_of(tree.at(id)));
    if (record) code.inspirations.push_back(tried(*record));
  }
  if (const auto* best_record = find_program(cycle.report.best_program)) {
    code.best = tried(*best_record);
  }
  if (const auto* last = find_program(cycle.last_program)) {
    code.last = tried(*last);
    code.last->outcome = cycle.last_outcome;
  }
  code.last_refusal = cycle.last_refusal;
  cycle.step = Cycle::Step::coding;
  cycle.request = ask(std::move(code));
}

void Engine::State::on_code(const Request& request, const engineer::CodeReply& reply) {
  if (const auto* gone = std::get_if<engineer::Lost>(&reply.what)) {
    return on_lost(*std::ranges::find(requests, request.id, &Request::id), gone->reason,
                   reply.usage);
  }
  Cycle& cycle = *cycle_of(request.id);
  close_request(request.id);
  for (const std::string& text : reply.notes) note(text);
  std::visit(Match{[&](const kernel::Program& program) {
                     announce_answer(request, "program", program.hash(), reply.usage);
                     on_program(cycle, program);
                   },
                   [&](const engineer::Exhausted& exhausted) {
                     announce_answer(request, "exhausted", exhausted.why, reply.usage);
                     cycle.report.why = exhausted.why;
                     end_cycle(cycle, "exhausted", true);
                   },
                   [&](const engineer::Refused& refused) {
                     announce_answer(request, "refused", refused.why, reply.usage);
                     cycle.last_refusal = refused.why;
                     finish_attempt(cycle, {{}, "Unparsable", refused.why, {}}, nullptr);
                   },
                   [&](const engineer::Lost&) {}},
             reply.what);
}

void Engine::State::on_program(Cycle& cycle, const kernel::Program& program) {
  const std::string hash = program.hash();
  const int attempt = static_cast<int>(cycle.report.attempts.size()) + 1;
  cycle.last_refusal.clear();
  const auto [known, is_new] = normal_index.emplace(normal_hash(program), hash);
  if (!is_new) {
    const ProgramRecord* first = find_program(known->second);
    kernel::Outcome outcome;
    outcome.verdict = kernel::Duplicate{known->second};
    if (first->outcome) {
      outcome.notes.push_back(fmt::format("that one: {}", kernel::summary(*first->outcome)));
    }
    emit(event::Evaluated{0, cycle.report.node_id, hash, attempt, outcome});
    cycle.last_program = known->second;
    cycle.last_outcome = outcome;
    return finish_attempt(cycle, {hash, "Duplicate", kernel::summary(outcome), {}}, nullptr);
  }
  if (!evaluations_left()) {  // taken by other lanes
    normal_index.erase(known);
    return end_cycle(cycle, "budget", false);
  }
  program_index.emplace(hash, programs.size());
  programs.push_back({program, hash, cycle.parent_program, cycle.report.node_id, cycle.report.cycle,
                      attempt, std::nullopt});
  EvaluateRequest evaluate{cycle.report.node_id, attempt, hash, {}};
  evaluate.job.program = program;
  if (const auto* parent = find_program(cycle.parent_program)) {
    evaluate.job.parent = parent->program;
    if (parent->outcome) evaluate.job.parent_select = parent->outcome->select;
  }
  evaluate.job.time_left = time_left();
  cycle.step = Cycle::Step::evaluating;
  cycle.request = ask(std::move(evaluate));
}

void Engine::State::on_outcome(const Request& request, const kernel::Outcome& outcome) {
  const auto& asked = std::get<EvaluateRequest>(request.what);
  close_request(request.id);
  Cycle& cycle = *cycle_of(request.id);
  ProgramRecord& record = programs[program_index.at(asked.program)];
  record.outcome = outcome;
  ++spent.evaluations;
  cycle.evaluated = true;
  cycle.last_program = asked.program;
  cycle.last_outcome = outcome;
  emit(event::Evaluated{request.id, asked.node_id, asked.program, asked.attempt, outcome});
  take_best(record, outcome);
  emit(event::BudgetSpent{spent, config.limits});
  std::optional<double> score;
  if (const auto ratio = outcome.score()) score = ratio->value;
  finish_attempt(
      cycle, {asked.program, std::string(kernel::kind(outcome)), kernel::summary(outcome), score},
      &outcome);
}

void Engine::State::take_best(const ProgramRecord& record, const kernel::Outcome& outcome) {
  if (!outcome.passed()) return;
  const auto naive = ratio_to(outcome, "naive");
  const auto score = outcome.score();
  if (naive && score && naive->value > 0 && !tree.root().ours.score) {
    // The naive program was not measured on its own: baseline / naive follows from the two ratios.
    tree::Node root = tree.root();
    root.ours.score = score->value / naive->value;
    tree.replace(std::move(root));
  }
  const ProgramRecord* now = find_program(best);
  const auto current = now ? now->outcome->score() : std::nullopt;
  const double reached = score ? score->value : 0;
  if (now && reached <= (current ? current->value : 0)) return;
  best = record.hash;
  event::BestImproved improved{
      record.node_id,        record.hash,         {}, naive, ratio_to(outcome, "expert"),
      expert_names(outcome), is_modelled(outcome)};
  if (score) improved.score = score->value;
  emit(std::move(improved));
}

std::optional<double> Engine::State::gain_over_parent(const Cycle& cycle,
                                                      const kernel::Outcome& outcome) const {
  if (const auto measured = ratio_to(outcome, "parent")) return measured->value;
  const tree::Node& parent = tree.at(tree.at(cycle.report.node_id).parent);
  if (parent.is_root()) {
    if (const auto naive = ratio_to(outcome, "naive")) return naive->value;
  }
  const auto score = outcome.score();
  const auto from = parent.ours.score;
  if (!score || !from || *from <= 0) return std::nullopt;
  return score->value / *from;
}

void Engine::State::finish_attempt(Cycle& cycle, engineer::AttemptReport attempt,
                                   const kernel::Outcome* outcome) {
  ++cycle.since_best;
  ++counts.outcomes[attempt.outcome];
  if (outcome && outcome->passed()) {
    const bool first = cycle.report.best_program.empty();
    if (first || attempt.score.value_or(0) > cycle.report.score.value_or(0)) {
      cycle.report.best_program = attempt.program;
      cycle.report.score = attempt.score;
      cycle.report.measured_gain = gain_over_parent(cycle, *outcome);
      cycle.since_best = 0;
    }
    const auto gain = gain_over_parent(cycle, *outcome);
    if (gain ? *gain > 1 : cycle.parent_program.empty()) cycle.beats_parent = true;
  }
  cycle.not_better = cycle.beats_parent ? 0 : cycle.not_better + 1;
  cycle.report.attempts.push_back(std::move(attempt));
  if (cycle.not_better >= config.stagnation) return end_cycle(cycle, "not_better", true);
  if (cycle.since_best >= config.stagnation) return end_cycle(cycle, "stagnated", true);
  if (reason_to_end()) return;  // whoever ends the run ends the cycle too
  ask_code(cycle);
}

void Engine::State::end_cycle(Cycle& cycle, std::string how, bool blame) {
  engineer::CycleReport& report = cycle.report;
  report.how = std::move(how);
  cycle.step = Cycle::Step::ended;
  cycle.request = 0;
  ++cycles_ended;
  ++counts.cycles;
  if (report.best_program.empty()) ++counts.failed_cycles;
  barren = cycle.evaluated ? 0 : barren + 1;
  emit(event::CycleEnded{report.cycle, report.node_id, report.how,
                         static_cast<int>(report.attempts.size()), report.best_program,
                         report.score});
  if (!report.best_program.empty()) return attach_best(cycle);
  tree::Node node = tree.at(report.node_id);
  ++node.ours.cycles;
  if (blame) {
    ++node.ours.failed_cycles;
    node.action.difficulty = std::min(5, node.action.difficulty + 1);
    node.action.score /= 2;
    emit(event::NodeUpdated{node.id,
                            {"action.difficulty_1_to_5", "action.score_0_to_1"},
                            node.action.difficulty,
                            node.action.score,
                            node.rating,
                            node.action.expected,
                            "rule"});
  }
  const int failed = node.ours.failed_cycles;
  tree.replace(std::move(node));
  if (blame && failed >= config.give_up_after) {
    note(fmt::format("node {} can no longer be reached: its action failed in {} cycles",
                     report.node_id, failed));
  }
}

void Engine::State::attach_best(Cycle& cycle) {
  const engineer::CycleReport& report = cycle.report;
  const kernel::Outcome& outcome = *find_program(report.best_program)->outcome;
  tree::Node node = tree.at(report.node_id);
  ++node.ours.cycles;
  node.solution.solution_id = report.best_program;
  if (!cycle.parent_program.empty()) node.solution.parent_solution_id = cycle.parent_program;
  node.solution.eval = eval_json(outcome);
  if (const auto score = outcome.score()) {
    node.ours.score = score->value;
    node.ours.score_low = score->low;
  }
  node.ours.measured_gain = report.measured_gain;
  node.last_updated_round = cycles_ended;
  emit(event::NodeClosed{node.id, report.best_program, node.ours.score, node.ours.predicted_gain,
                         node.ours.measured_gain});
  tree.replace(std::move(node));
}

}  // namespace ksearch::search
