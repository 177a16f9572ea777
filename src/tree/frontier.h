// Which nodes can be worked on next, and which never.
#pragma once

#include <string>
#include <vector>

#include "tree/tree.h"

namespace ksearch::tree {

struct FrontierRules {
  int difficulty_limit = 4;  ///< nodes above it are taken only if there is no other (K-Search)
  int give_up_after = 2;     ///< failed cycles after which a node is left alone
};

/// Open nodes with a title whose parent is closed and whose action has not failed too often, oldest
/// first.
std::vector<const Node*> frontier(const Tree& tree, const FrontierRules& rules = {});

/// K-Search's order: score descending, difficulty ascending, rating descending, id ascending as a
/// string ("n10" before "n2").
bool ksearch_before(const Node& a, const Node& b);

/// K-Search's pick among those nodes: those within the difficulty limit if there are any, the first
/// by ksearch_before. Null where `among` is empty.
const Node* ksearch_pick(const std::vector<const Node*>& among, const FrontierRules& rules = {});

/// Open nodes that can never come into the frontier as the tree is, and why.
struct Unreachable {
  std::string node_id;
  std::string why;
};
std::vector<Unreachable> unreachable(const Tree& tree, const FrontierRules& rules = {});

}  // namespace ksearch::tree
