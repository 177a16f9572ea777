#include "tree/tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ksearch::tree {
namespace {

Node lone_root(std::string id) {
  Node root;
  root.id = std::move(id);
  root.type = "root";
  return root;
}

}  // namespace

Tree::Tree(std::string root_id) : Tree(lone_root(std::move(root_id))) {}

Tree::Tree(Node root) {
  KS_CHECK(root.parent.empty() && !root.id.empty(), "a root has an id and no parent");
  active_leaf_id = root.id;
  index_.emplace(root.id, 0u);
  slots_.emplace_back().node = std::move(root);
  alive_ = 1;
}

const Tree::Slot* Tree::slot(std::string_view id) const {
  const auto it = index_.find(id);
  if (it == index_.end() || !slots_[it->second].alive) return nullptr;
  return &slots_[it->second];
}

const Node* Tree::find(std::string_view id) const {
  const Slot* found = slot(id);
  return found ? &found->node : nullptr;
}

const Node& Tree::at(std::string_view id) const {
  const Slot* found = slot(id);
  KS_CHECK(found, id);
  return found->node;
}

bool Tree::id_taken(std::string_view id) const { return index_.find(id) != index_.end(); }

std::vector<const Node*> Tree::nodes() const {
  std::vector<const Node*> all;
  all.reserve(alive_);
  for (const Slot& s : slots_) {
    if (s.alive) all.push_back(&s.node);
  }
  return all;
}

std::vector<const Node*> Tree::children(std::string_view id) const {
  const Slot* parent = slot(id);
  KS_CHECK(parent, id);
  std::vector<const Node*> found;
  found.reserve(parent->children.size());
  for (const std::uint32_t child : parent->children) found.push_back(&slots_[child].node);
  return found;
}

bool Tree::has_children(std::string_view id) const {
  const Slot* parent = slot(id);
  KS_CHECK(parent, id);
  return !parent->children.empty();
}

std::vector<const Node*> Tree::path(std::string_view id) const {
  const Slot* at = slot(id);
  KS_CHECK(at, id);
  std::vector<const Node*> nodes{&at->node};
  while (!at->node.is_root()) {
    at = &slots_[at->parent];
    nodes.push_back(&at->node);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

std::uint64_t Tree::born(std::string_view id) const {
  const Slot* found = slot(id);
  KS_CHECK(found, id);
  return found->born;
}

void Tree::insert(Node node) {
  KS_CHECK(!node.id.empty() && !id_taken(node.id), node.id);
  const auto parent = index_.find(node.parent);
  KS_CHECK(parent != index_.end() && slots_[parent->second].alive, node.parent);
  const auto slot = static_cast<std::uint32_t>(slots_.size());
  slots_[parent->second].children.push_back(slot);
  index_.emplace(node.id, slot);
  Slot& made = slots_.emplace_back();
  made.node = std::move(node);
  made.parent = parent->second;
  made.born = ++revision_;
  ++alive_;
}

void Tree::replace(Node node) {
  const auto it = index_.find(node.id);
  KS_CHECK(it != index_.end() && slots_[it->second].alive, node.id);
  KS_CHECK(slots_[it->second].node.parent == node.parent, "a node keeps its parent");
  slots_[it->second].node = std::move(node);
  ++revision_;
}

void Tree::remove(std::string_view id) {
  const auto it = index_.find(id);
  KS_CHECK(it != index_.end() && slots_[it->second].alive, id);
  Slot& gone = slots_[it->second];
  KS_CHECK(gone.children.empty() && !gone.node.is_root(), id);
  std::erase(slots_[gone.parent].children, it->second);
  if (active_leaf_id == id) active_leaf_id = gone.node.parent;
  gone.alive = false;
  --alive_;
  ++revision_;
}

std::string free_id(const Tree& tree, std::string_view prefix) {
  for (std::size_t n = 1;; ++n) {
    std::string id = std::string(prefix) + "_" + std::to_string(n);
    if (!tree.id_taken(id)) return id;
  }
}

}  // namespace ksearch::tree
