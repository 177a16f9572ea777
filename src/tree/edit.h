// What a planner may change, and the judgement of it. A script is a list of operations, each judged
// on its own: one bad operation never sinks the others, and whatever is refused has its reason.
//
//   {"op": "update_node", "node_id", "patch": {...}}
//   {"op": "insert_node", "parent_id", "parent_solution_id"?, "node": {...}}
//   {"op": "split_node",  "node_id", "parent_patch"?: {...}, "children": [{...}]}
//   {"op": "delete_node", "node_id"}                 open leaves only
//   {"op": "prune",       "node_id", "why"}          ours: the same, and the reason is kept
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tree/tree.h"

namespace ksearch::tree {

/// Operations stay JSON until they are judged, one by one.
struct EditScript {
  std::vector<base::Json> ops;
  std::optional<std::string> active_leaf_id;
  std::optional<std::string> kernel_summary;               ///< what its author believes now
  std::optional<std::vector<std::string>> open_questions;  ///< replaces the tree's
};

/// {"ops": [...], "active_leaf_id"?, "kernel_summary"?, "open_questions"?}. An error where it is no
/// script at all.
base::Result<EditScript> parse_edit_script(const base::Json& json, std::string_view where);
base::Json to_json(const EditScript& script);

/// Operations as the built-in planner writes them. `node.parent` and `solution` are left out.
base::Json insert_op(std::string_view parent_id, const Node& node);
base::Json update_op(std::string_view node_id, base::Json patch);
base::Json prune_op(std::string_view node_id, std::string_view why);

enum class Refusal {
  unknown_op,
  unknown_node,  ///< no such node, or none the planner could have seen
  duplicate_id,
  cycle,
  missing_field,
  wrong_kind,  ///< an object where a number is wanted
  out_of_range,
  not_allowed,  ///< solution_ref, node_id, parent_id, the root's decision
  not_an_open_leaf,
  tried_once,  ///< removal of a node whose action failed once: it gets its second cycle
  wrong_parent_solution,
  too_many_new_nodes,
  in_use,  ///< being worked on right now
};
std::string_view name(Refusal refusal);

struct Refused {
  std::size_t index = 0;  ///< of the operation in the script, from 0
  std::string op;
  Refusal label = Refusal::unknown_op;
  std::string why;  ///< names the id or field: "action.score_0_to_1 is 1.2, not within 0 to 1"
};

struct Change {
  enum class Kind { inserted, updated, removed } kind = Kind::inserted;
  std::size_t index = 0;
  std::string node_id;
  std::string parent_id;            ///< of an inserted node
  std::vector<std::string> fields;  ///< that an update set: "action.score_0_to_1"
  std::string why;                  ///< of a removal
};

struct EditOptions {
  std::uint64_t seen_revision = UINT64_MAX;   ///< the tree as its author saw it
  int new_nodes = 3;                          ///< how many this update may still add
  int round = 0;                              ///< for last_updated_round
  std::set<std::string, std::less<>> in_use;  ///< nodes with a cycle running: not to be removed
};

struct EditReport {
  std::vector<Change> changes;
  std::vector<Refused> refused;
  std::vector<std::string> notes;  ///< what was forgiven
  int new_nodes() const;
};

/// Applies what is legal, in order. An operation names nodes its author saw (alive at
/// `seen_revision`) or made earlier in the script, and must be legal in the tree as it is now.
/// Operations are atomic, except that each child of a split is judged on its own.
EditReport apply(Tree& tree, const EditScript& script, const EditOptions& options);

}  // namespace ksearch::tree
