#include "tree/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace ksearch::tree {
namespace {

bool selectable(const Node& node, const FrontierRules& rules) {
  return !node.closed() && !node.action.title.empty() &&
         node.ours.failed_cycles < rules.give_up_after;
}

}  // namespace

std::vector<const Node*> frontier(const Tree& tree, const FrontierRules& rules) {
  std::vector<const Node*> found;
  for (const Node* node : tree.nodes()) {
    if (selectable(*node, rules) && tree.at(node->parent).closed()) found.push_back(node);
  }
  return found;
}

bool ksearch_before(const Node& a, const Node& b) {
  if (a.action.score != b.action.score) return a.action.score > b.action.score;
  if (a.action.difficulty != b.action.difficulty) return a.action.difficulty < b.action.difficulty;
  if (a.rating != b.rating) return a.rating > b.rating;
  return a.id < b.id;
}

const Node* ksearch_pick(const std::vector<const Node*>& among, const FrontierRules& rules) {
  const Node* within = nullptr;
  const Node* any = nullptr;
  for (const Node* node : among) {
    if (!any || ksearch_before(*node, *any)) any = node;
    if (node->action.difficulty > rules.difficulty_limit) continue;
    if (!within || ksearch_before(*node, *within)) within = node;
  }
  return within ? within : any;
}

std::vector<Unreachable> unreachable(const Tree& tree, const FrontierRules& rules) {
  std::vector<Unreachable> found;
  std::unordered_set<std::string_view> blocked;  // open nodes that can never be closed
  for (const Node* node : tree.nodes()) {        // parents come before their children
    if (node->closed()) continue;
    std::string why;
    if (blocked.contains(node->parent)) {
      why = fmt::format("its parent {} can never be closed", node->parent);
    } else if (node->action.title.empty()) {
      why = "it has no action.title";
    } else if (!selectable(*node, rules)) {
      why = fmt::format("its action failed in {} cycles", node->ours.failed_cycles);
    }
    if (why.empty()) continue;
    blocked.insert(node->id);
    found.push_back({node->id, std::move(why)});
  }
  return found;
}

}  // namespace ksearch::tree
