#include "cli/live_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"

namespace ksearch::cli {
namespace {

constexpr std::size_t kLogLines = 20;

using report::NodeStatus;

/// One overload an event; events that show nothing fall to the last one.
struct Fold {
  LiveState& state;

  void operator()(const event::RunStarted& e) {
    state.run = e;
    state.now.clear();
  }
  void operator()(const event::NodeInserted& e) {
    // The root comes with the run and not by an event.
    if (!e.parent_id.empty() && state.rows.empty()) {
      report::TreeRow root;
      root.id = e.parent_id;
      root.title = "naive program";
      root.status = NodeStatus::root;
      state.rows.push_back(std::move(root));
    }
    report::TreeRow row;
    row.id = e.node_id;
    row.parent = e.parent_id;
    row.title = e.title.empty() ? e.node_id : e.title;
    row.status = e.parent_id.empty() ? NodeStatus::root : NodeStatus::open;
    state.rows.push_back(std::move(row));
  }
  void operator()(const event::NodeClosed& e) {
    if (report::TreeRow* row = known(e.node_id)) {
      if (row->status != NodeStatus::root) row->status = NodeStatus::passed;
      row->remark.clear();
      row->score = e.score;
      row->predicted = e.predicted_gain;
      row->measured = e.measured_gain;
    }
  }
  void operator()(const event::NodePruned& e) {
    std::erase_if(state.rows, [&](const report::TreeRow& row) { return row.id == e.node_id; });
  }
  void operator()(const event::CycleStarted& e) {
    state.working_node = e.node_id;
    state.attempt = 1;
    state.now = "asking for a program";
    if (report::TreeRow* row = known(e.node_id)) {
      row->status = NodeStatus::working;
      row->remark.clear();
    }
  }
  void operator()(const event::CycleEnded& e) {
    state.working_node.clear();
    state.now.clear();
    report::TreeRow* row = known(e.node_id);
    if (row && row->status == NodeStatus::working)
      row->status = e.best_program.empty() ? NodeStatus::failed : NodeStatus::passed;
  }
  void operator()(const event::Asked& e) {
    if (e.kind == "plan")
      state.now = e.what == "revise" ? "planner: what was learnt" : "planner: what to try next";
    if (e.kind == "certify") {
      state.certifying = true;
      state.working_node = e.node_id;
      state.attempt = 1;
      state.now = "held-out workloads";
    }
    if (e.kind == "code" || e.kind == "evaluate") state.attempt = std::max(1, e.attempt);
  }
  void operator()(const event::StageProgress& e) { state.now = e.what; }
  void operator()(const event::Evaluated& e) {
    report::TreeRow* row = known(e.node_id);
    if (row && !e.outcome.passed()) row->remark = std::string(kernel::kind(e.outcome));
  }
  void operator()(const event::BestImproved& e) {
    state.best_node = e.node_id;
    state.naive = e.naive;
    state.expert = e.expert;
    state.expert_name = e.expert_name;
    state.modelled = e.modelled;
    // No event says what the naive program scores: it follows from the two ratios.
    if (!state.rows.empty() && state.rows.front().status == NodeStatus::root && e.score &&
        e.naive && e.naive->value > 0)
      state.rows.front().score = *e.score / e.naive->value;
  }
  void operator()(const event::BudgetSpent& e) { state.spent = e.spent; }
  void operator()(const event::RunEnded& e) {
    state.working_node.clear();
    state.now.clear();
    state.ended = fmt::format("{} ({})", e.status, e.why);
  }
  void operator()(const event::NodeUpdated&) {}
  void operator()(const event::EditRefused&) {}
  void operator()(const event::Answered&) {}
  void operator()(const event::Note&) {}
  void operator()(const event::Certified& e) {
    state.working_node.clear();
    if (report::TreeRow* row = known(e.node_id); row && !e.passed) {
      row->status = NodeStatus::thrown_out;
      row->remark = "failed its certificate";
    }
  }

 private:
  report::TreeRow* known(const std::string& id) { return state.row(id); }
};

bool worth_a_line(const event::Event& event) {
  return std::holds_alternative<event::Evaluated>(event.what) ||
         std::holds_alternative<event::Note>(event.what) ||
         std::holds_alternative<event::EditRefused>(event.what) ||
         std::holds_alternative<event::Certified>(event.what) ||
         std::holds_alternative<event::BestImproved>(event.what);
}

}  // namespace

report::TreeRow* LiveState::row(std::string_view id) {
  const auto found = std::ranges::find(rows, id, &report::TreeRow::id);
  return found == rows.end() ? nullptr : &*found;
}

void LiveState::on(const event::Event& event) {
  std::visit(Fold{*this}, event.what);
  elapsed = std::max(elapsed, event.at);
  if (!worth_a_line(event)) return;
  const std::string line = event::summary(event);
  if (line.empty()) return;
  const double seconds = std::chrono::duration<double>(event.at).count();
  log.push_back(fmt::format("{:>6}  {}", report::seconds_text(seconds), line));
  if (log.size() > kLogLines) log.pop_front();
}

}  // namespace ksearch::cli
