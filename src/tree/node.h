// A node of the world model: an intention (open) or a program that passed (closed). Fields are
// K-Search's, under shorter names; what only ksearch knows is `ours`.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace ksearch::tree {

/// What to change on the parent's program.
struct Action {
  std::string title;  ///< empty: the node can never be selected
  std::string description;
  int difficulty = 3;              ///< difficulty_1_to_5
  double score = 0;                ///< score_0_to_1: how promising
  std::optional<double> expected;  ///< expected_vs_baseline_factor: against `expert`, else `naive`
  std::string rationale;
  base::Json extra;  ///< keys we do not know, written back as they came; or null
};

struct Impact {
  double rating = 0;  ///< rating_0_to_10
  std::string risk;
  std::string notes;
  base::Json extra;
};

struct Impacts {
  Impact memory_bandwidth;
  Impact register_pressure;
  Impact compute_intensity_and_hw_fit;
  std::string hw_notes;  ///< of compute_intensity_and_hw_fit
  base::Json extra;
};

/// The program attached to a node. Only the engine sets it.
struct SolutionRef {
  std::optional<std::string> solution_id;  ///< hash of the program; set: the node is closed
  std::optional<std::string> parent_solution_id;
  base::Json eval;  ///< object: status, score, score_name, ... as K-Search writes them
  base::Json extra;
};

/// What ksearch keeps for a node beyond K-Search's fields.
struct Ours {
  std::optional<double> score;           ///< of its program: baseline time / program time
  std::optional<double> score_low;       ///< lower end of the 95% confidence interval
  std::optional<double> predicted_gain;  ///< over the parent, when its last cycle started
  std::optional<double>
      measured_gain;      ///< over the parent, interleaved with it where that was measured
  int cycles = 0;         ///< cycles that ended, passed or not
  int failed_cycles = 0;  ///< without a passing program, since its action last changed
  friend bool operator==(const Ours&, const Ours&) = default;
};

struct Node {
  std::string id;
  std::string parent;             ///< empty for the root alone
  std::string type = "decision";  ///< node_type: "root" or "decision"
  std::optional<std::string> decision;
  std::optional<std::string> choice;
  Action action;
  Impacts impacts;
  double rating = 0;      ///< overall_rating_0_to_10
  double confidence = 0;  ///< confidence_0_to_1
  SolutionRef solution;
  int last_updated_round = 0;
  std::string notes;
  base::Json extra;
  Ours ours;

  bool is_root() const { return parent.empty(); }
  /// A program is attached, or it is the root.
  bool closed() const { return is_root() || solution.solution_id.has_value(); }
};

base::Json to_json(const Action& action);
/// Keys in K-Search's order and spelling; `ours` is not in it (world_model.h writes that).
base::Json to_json(const Node& node);
/// Ours alone; null where nothing was ever set.
base::Json to_json(const Ours& ours);
base::Result<Ours> parse_ours(const base::Json& json, std::string_view where);

}  // namespace ksearch::tree
