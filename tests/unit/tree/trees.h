// Small trees for tests.
#pragma once

#include <string>

#include "tree/tree.h"

namespace ksearch::tree {

inline Node open_node(std::string id, std::string parent, double score = 0.5, int difficulty = 3,
                      double rating = 5) {
  Node node;
  node.id = std::move(id);
  node.parent = std::move(parent);
  node.action.title = "do " + node.id;
  node.action.score = score;
  node.action.difficulty = difficulty;
  node.rating = rating;
  return node;
}

inline Node closed_node(std::string id, std::string parent) {
  Node node = open_node(std::move(id), std::move(parent));
  node.solution.solution_id = "sol_" + node.id;
  return node;
}

/// The tree of the replies: root, n1 (closed: n1a, n1b open), n2 open, n3 (closed: n3a open).
inline Tree reply_tree() {
  Tree tree;
  tree.insert(closed_node("n1", "root"));
  tree.insert(open_node("n2", "root"));
  tree.insert(open_node("n1a", "n1"));
  tree.insert(open_node("n1b", "n1"));
  tree.insert(closed_node("n3", "root"));
  tree.insert(open_node("n3a", "n3"));
  return tree;
}

inline std::string ids(const std::vector<const Node*>& nodes) {
  std::string text;
  for (const Node* node : nodes) text += (text.empty() ? "" : " ") + node->id;
  return text;
}

}  // namespace ksearch::tree
