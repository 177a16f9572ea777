// Draws the live state as lines: a pure function of state and size, so that it can be tested and
// survives any resize.
#pragma once

#include <string>
#include <vector>

#include "cli/live_state.h"

namespace ksearch::cli {

struct Size {
  int width = 80;
  int height = 24;
  friend bool operator==(const Size&, const Size&) = default;
};

/// At most size.height lines of at most size.width columns: head (task, best, budget, what is being
/// tried), tree, last lines of the log. Below 20 x 4 it still draws, cut.
std::vector<std::string> live_lines(const report::Style& style, const LiveState& state, Size size);

/// The share of the budget that is spent, by the limit that is nearest; none without limits.
std::optional<double> budget_share(const LiveState& state);

}  // namespace ksearch::cli
