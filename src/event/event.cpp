// Events as lines for people.
#include "event/event.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "base/match.h"

namespace ksearch::event {
namespace {

using base::Match;

/// The interval, where it is so wide that the figure alone would mislead.
std::string doubt(const kernel::Ratio& ratio) {
  constexpr double kWide = 1.5;
  if (ratio.high < kWide * ratio.low) return "";
  return fmt::format(" [{:.3g}, {:.3g}]", ratio.low, ratio.high);
}

std::string gain(const char* label, const std::optional<double>& value) {
  return value ? fmt::format(", {} {:.2f}x", label, *value) : std::string();
}

std::string in_words(const Spent& spent, const Limits& limits) {
  std::string text = fmt::format("{}", spent.evaluations);
  if (limits.evaluations) text += fmt::format(" of {}", *limits.evaluations);
  text += fmt::format(" evaluation{}, {:.0f} s",
                      spent.evaluations == 1 && !limits.evaluations ? "" : "s",
                      std::chrono::duration<double>(spent.wall).count());
  if (limits.wall) {
    text += fmt::format(" of {:.0f} s", std::chrono::duration<double>(*limits.wall).count());
  }
  if (spent.calls > 0) text += ", " + base::counted(spent.calls, "call");
  if (spent.tokens || limits.tokens) {
    text += fmt::format(", {}{} tokens", spent.tokens_estimated ? "about " : "", spent.tokens);
    if (limits.tokens) text += fmt::format(" of {}", *limits.tokens);
  }
  if (spent.cost_usd > 0 || limits.cost_usd) {
    text += fmt::format(", {:.2f} USD", spent.cost_usd);
    if (limits.cost_usd) text += fmt::format(" of {:.2f}", *limits.cost_usd);
  }
  return text;
}

}  // namespace

std::string_view name(const Event& event) {
  return std::visit(
      Match{[](const RunStarted&) { return "run_started"; },
            [](const NodeInserted&) { return "node_inserted"; },
            [](const NodeUpdated&) { return "node_updated"; },
            [](const NodeClosed&) { return "node_closed"; },
            [](const NodePruned&) { return "node_pruned"; },
            [](const EditRefused&) { return "edit_refused"; },
            [](const CycleStarted&) { return "cycle_started"; },
            [](const CycleEnded&) { return "cycle_ended"; }, [](const Asked&) { return "asked"; },
            [](const Answered&) { return "answered"; },
            [](const StageProgress&) { return "stage_progress"; },
            [](const Evaluated&) { return "evaluated"; },
            [](const BestImproved&) { return "best_improved"; },
            [](const BudgetSpent&) { return "budget"; }, [](const Note&) { return "note"; },
            [](const Certified&) { return "certified"; },
            [](const RunEnded&) { return "run_ended"; }},
      event.what);
}

std::string summary(const Event& event) {
  return std::visit(
      Match{[](const RunStarted& e) {
              return fmt::format("{} on {} ({}), engineer {}, strategy {}, seed {}", e.task,
                                 e.target, e.device, e.engineer, e.strategy, e.seed);
            },
            [](const NodeInserted& e) {
              return fmt::format("idea {} under {}: {} (score {:.2f}, difficulty {}{})", e.node_id,
                                 e.parent_id, e.title, e.score, e.difficulty,
                                 gain("expects", e.expected));
            },
            [](const NodeUpdated& e) {
              return fmt::format("{} now has score {:.2f}, difficulty {}{} (by {})", e.node_id,
                                 e.score, e.difficulty, gain("expects", e.expected), e.by);
            },
            [](const NodeClosed& e) {
              return fmt::format("{} done{}{}{}", e.node_id, gain("score", e.score),
                                 gain("gain over its parent", e.measured_gain),
                                 gain("predicted", e.predicted_gain));
            },
            [](const NodePruned& e) { return fmt::format("{} pruned: {}", e.node_id, e.why); },
            [](const EditRefused& e) {
              return fmt::format("refused operation {} {}: {}: {}", e.index, e.op, e.label, e.why);
            },
            [](const CycleStarted& e) {
              return fmt::format("cycle {}: {} ({})", e.cycle, e.node_id, e.title);
            },
            [](const CycleEnded& e) {
              return fmt::format("cycle {} of {} ended ({}) after {} attempt{}{}", e.cycle,
                                 e.node_id, e.how, e.attempts, e.attempts == 1 ? "" : "s",
                                 e.best_program.empty() ? ", nothing passed" : "");
            },
            [](const Asked&) { return std::string(); },
            [](const Answered& e) {
              return e.answer == "lost" || e.answer == "refused"
                         ? fmt::format("{} {}: {}", e.kind, e.answer, e.what)
                         : std::string();
            },
            [](const StageProgress& e) { return fmt::format("{}: {}", e.node_id, e.what); },
            [](const Evaluated& e) {
              return fmt::format("{} attempt {}: {}", e.node_id, e.attempt,
                                 kernel::summary(e.outcome));
            },
            [](const BestImproved& e) {
              std::string text = fmt::format("best so far: {}", e.node_id);
              if (e.naive)
                text += fmt::format(", {:.2f}x naive{}", e.naive->value, doubt(*e.naive));
              if (e.expert)
                text +=
                    fmt::format(", {:.3f}x {}{}", e.expert->value, e.expert_name, doubt(*e.expert));
              return text + (e.modelled ? " (modelled)" : "");
            },
            [](const BudgetSpent& e) {
              return fmt::format("budget: {}", in_words(e.spent, e.limits));
            },
            [](const Note& e) { return e.text; },
            [](const Certified& e) {
              return fmt::format("certificate of {} (rank {}): {}", e.node_id, e.rank, e.summary);
            },
            [](const RunEnded& e) {
              return e.why.starts_with(e.status + ": ") ? e.why
                                                        : fmt::format("{}: {}", e.status, e.why);
            }},
      event.what);
}

}  // namespace ksearch::event
