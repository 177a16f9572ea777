// What the live view shows, folded from the events of a run. A plain value; drawing it is
// live_view.h's.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "event/event.h"
#include "report/tree_lines.h"

namespace ksearch::cli {

struct LiveState {
  event::RunStarted run;
  event::Spent spent;
  std::chrono::nanoseconds elapsed{0};  ///< set before each drawing
  std::vector<report::TreeRow> rows;    ///< pruned nodes are gone
  std::string best_node;
  std::optional<kernel::Ratio> naive, expert;  ///< of the best program
  std::string expert_name;
  bool modelled = false;
  std::string working_node;  ///< the cycle that runs, or empty
  int attempt = 0;
  bool certifying = false;      ///< the search is over, its best programs are put to the proof
  std::string now;              ///< "timing f32_causal_d64", "asking the planner"
  std::deque<std::string> log;  ///< last lines worth reading, oldest first, at most 20
  bool stopping = false;        ///< Ctrl-C was heard
  std::string ended;            ///< "passed: budget: evaluations", empty while it runs

  /// Moves on by one event.
  void on(const event::Event& event);
  /// Before the search starts and while it certifies: what the session does.
  void progress(std::string_view what) { now = std::string(what); }
  report::TreeRow* row(std::string_view id);
};

}  // namespace ksearch::cli
