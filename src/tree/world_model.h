// K-Search's world_model.json: reading what models and K-Search write, writing what K-Search loads.
// What is ours goes under one top-level key `ksearch`, by node id, which K-Search keeps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tree/tree.h"

namespace ksearch::tree {

/// A node, or part of one, that was not taken over.
struct RefusedNode {
  std::string node_id;
  std::string label;  ///< "duplicate_id", "cycle", "unknown_node", "wrong_kind"
  std::string why;
};

struct LoadedWorldModel {
  Tree tree;
  std::vector<RefusedNode> refused;
  std::vector<std::string>
      notes;  ///< everything that was forgiven, kept though unknown, or clamped
};

/// Reads a world model. Forgives what K-Search forgives (numbers as text, difficulty_0_to_3, a
/// missing score becomes rating / 10, values out of range are clamped, a second root hangs under
/// the root) and the form of the "From CUDA to MLX" post (action as text, impacts as bare numbers),
/// each with a note. Nodes with an id used twice, an unknown parent or on a cycle are refused, with
/// all below them. An error where there is no tree at all.
base::Result<LoadedWorldModel> read_world_model(const base::Json& json, std::string_view where);
base::Result<LoadedWorldModel> load_world_model(std::string_view text, std::string_view where);

/// What K-Search loads as the same tree, with `ksearch` beside it. Reading it back gives the same
/// tree.
base::Json world_model_json(const Tree& tree);

}  // namespace ksearch::tree
