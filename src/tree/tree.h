// The search tree: nodes by id, with parents and children, in the order they came. A value: copies
// are independent. It holds the invariants (one root, known parents, unique ids); what a planner
// may change is edit.h's, what may be worked on next is frontier.h's.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree/node.h"

namespace ksearch::tree {

class Tree {
 public:
  /// A lone root of that id.
  explicit Tree(std::string root_id = "root");
  explicit Tree(Node root);

  const Node& root() const { return slots_.front().node; }
  const Node* find(std::string_view id) const;
  /// A node that must be there (our bug otherwise).
  const Node& at(std::string_view id) const;
  bool contains(std::string_view id) const { return find(id) != nullptr; }
  /// Once used, an id is never free again, so that journals and reports stay unambiguous.
  bool id_taken(std::string_view id) const;
  std::size_t size() const { return alive_; }

  /// All nodes, oldest first. Valid until the next change.
  std::vector<const Node*> nodes() const;
  /// Children of a node that is there, oldest first.
  std::vector<const Node*> children(std::string_view id) const;
  bool has_children(std::string_view id) const;
  /// From the root to the node.
  std::vector<const Node*> path(std::string_view id) const;
  int depth(std::string_view id) const { return static_cast<int>(path(id).size()) - 1; }

  /// Counts changes. A request carries the revision it was made at, so that a late answer is judged
  /// by the tree its author saw.
  std::uint64_t revision() const { return revision_; }
  /// The revision at which a node came into the tree.
  std::uint64_t born(std::string_view id) const;

  /// The id is free and the parent is there (checked).
  void insert(Node node);
  /// Replaces the node of that id; its parent stays (checked).
  void replace(Node node);
  /// A leaf that is not the root (checked).
  void remove(std::string_view id);

  // What a world model holds beside its nodes.
  std::string kernel_summary;
  std::vector<std::string> open_questions;
  std::string active_leaf_id;
  base::Json computed_signals;  ///< object, or null
  base::Json extra;             ///< top-level keys of others, or null
  base::Json tree_extra;        ///< keys of others in decision_tree, or null

 private:
  struct Slot {
    Node node;
    std::uint32_t parent = 0;
    std::vector<std::uint32_t> children;
    std::uint64_t born = 0;
    bool alive = true;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  const Slot* slot(std::string_view id) const;

  std::deque<Slot> slots_;  // removed ones stay as tombstones: their ids stay taken
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
  std::size_t alive_ = 0;
  std::uint64_t revision_ = 0;
};

/// An id no node of the tree has or had: "PREFIX_1", "PREFIX_2", ...
std::string free_id(const Tree& tree, std::string_view prefix);

}  // namespace ksearch::tree
