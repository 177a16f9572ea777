// What to work on next. A strategy is a pure function of what the engine knows and of a random
// stream forked for each decision, so that resuming and replaying cost nothing.
//
//   engine: before each cycle ── wants_plan? ──> planner asked ──> pick ──> cycle
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "tree/frontier.h"
#include "tree/tree.h"

namespace ksearch::search {

struct View {
  const tree::Tree& tree;
  tree::FrontierRules rules;
  std::vector<const tree::Node*> frontier;  ///< without nodes that are being worked on
  std::string best_node;                    ///< with the best program; the root before there is one
  int frontier_low = 3;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  /// Whether the planner should be asked before picking.
  virtual bool wants_plan(const View& view) const;
  /// One of `view.frontier`, which is not empty.
  virtual const tree::Node& pick(const View& view, base::Random random) const = 0;
  /// Closed nodes whose programs the coder gets to see beside the parent's; best first.
  virtual std::vector<std::string> inspirations(const View& view, const tree::Node& node) const;
};

/// "ksearch", "calibrated", "greedy", "random"; the error lists them.
base::Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name);
const std::vector<std::string_view>& strategy_names();

}  // namespace ksearch::search
