#include "report/tree_rows.h"

#include "search/figures.h"

namespace ksearch::report {
namespace {

NodeStatus status_of(const tree::Node& node, const NodeFigures& figures) {
  if (node.is_root()) return NodeStatus::root;
  if (node.closed() || !figures.program.empty()) return NodeStatus::passed;
  return node.ours.failed_cycles > 0 ? NodeStatus::failed : NodeStatus::open;
}

/// The check that threw a node's program out, or empty. A certificate that failed for the machine's
/// noise says nothing against the program.
std::string thrown_out_by(const search::Engine& engine, const tree::Node& node,
                          const std::string& program) {
  if (engine.winner() && engine.winner()->node_id == node.id) return "";
  for (const search::CertificateRecord& record : engine.certificates())
    if (record.program == program && record.certificate && !record.certificate->only_noise())
      if (const auto* check = record.certificate->failed_check()) return check->name;
  return "";
}

}  // namespace

NodeFigures figures_of(const search::Engine& engine, const tree::Node& node) {
  NodeFigures figures{node.solution.solution_id.value_or(""), node.ours.score,
                      node.ours.measured_gain};
  if (node.is_root() || !figures.program.empty()) return figures;
  for (const search::ProgramRecord& record : engine.programs()) {
    if (record.node_id != node.id || !record.outcome || !record.outcome->passed()) continue;
    const auto score = record.outcome->score();
    const bool first = figures.program.empty();
    if (!first && (!score || score->value <= figures.score.value_or(0))) continue;
    figures.program = record.hash;
    if (score) figures.score = score->value;
    const bool of_root = engine.tree().at(node.parent).is_root();
    auto gain = search::ratio_to(*record.outcome, "parent");
    if (!gain && of_root) gain = search::ratio_to(*record.outcome, "naive");
    figures.measured_gain.reset();
    if (gain) figures.measured_gain = gain->value;
  }
  return figures;
}

std::vector<TreeRow> tree_rows(const search::Engine& engine) {
  std::vector<TreeRow> rows;
  for (const tree::Node* node : engine.tree().nodes()) {
    const NodeFigures figures = figures_of(engine, *node);
    TreeRow row;
    row.id = node->id;
    row.parent = node->parent;
    row.title = node->is_root() ? "naive" : node->action.title;
    row.score = figures.score;
    row.predicted = node->ours.predicted_gain;
    row.measured = figures.measured_gain;
    row.status = status_of(*node, figures);
    if (const std::string check = thrown_out_by(engine, *node, figures.program); !check.empty()) {
      row.status = NodeStatus::thrown_out;
      row.remark = "thrown out by its certificate (" + check + ")";
    }
    rows.push_back(std::move(row));
  }
  for (const search::ProgramRecord& record : engine.programs())
    if (record.outcome && !record.outcome->passed())
      for (TreeRow& row : rows)
        if (row.id == record.node_id && row.status == NodeStatus::failed)
          row.remark = std::string(kernel::kind(*record.outcome));
  return rows;
}

}  // namespace ksearch::report
