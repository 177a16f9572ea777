// A run's search tree as rows with their figures: what tree_lines draws in a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/tree_lines.h"
#include "search/engine.h"

namespace ksearch::report {

/// What is known of a node's best program.
struct NodeFigures {
  std::string program;  ///< hash, or empty
  std::optional<double> score, measured_gain;
};

/// The tree's own; of a node whose cycle is not over (the run was stopped in it), those of its best
/// program so far.
NodeFigures figures_of(const search::Engine& engine, const tree::Node& node);

/// Every node; failures and certificates that threw a program out in words.
std::vector<TreeRow> tree_rows(const search::Engine& engine);

}  // namespace ksearch::report
