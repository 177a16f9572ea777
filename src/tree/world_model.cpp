#include "tree/world_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tree/node_reader.h"

namespace ksearch::tree {
namespace {

using base::Json;

constexpr std::string_view kOursFormat = "ksearch.world_model/1";

/// A node of the file whose place in the tree is not known yet.
struct Candidate {
  Node node;
  std::size_t index = 0;
  bool placed = false;
};

class Loader {
 public:
  explicit Loader(std::string where) : where_(std::move(where)) {}

  base::Result<LoadedWorldModel> load(const Json& json) {
    const auto tree = json.find("decision_tree");
    if (tree == json.end() || !tree->is_object()) {
      return base::usage_error(where_, "no decision_tree in it",
                               "a world model has {\"decision_tree\": {\"root_id\", \"nodes\"}}");
    }
    root_id_ = id_at(*tree, "root_id");
    if (root_id_.empty()) root_id_ = "root";
    const auto nodes = tree->find("nodes");
    if (nodes != tree->end() && !nodes->is_array()) {
      return base::usage_error(where_ + ": decision_tree", "nodes is no list");
    }
    if (nodes != tree->end()) read_nodes(*nodes);
    LoadedWorldModel loaded{place_root(), {}, {}};
    place_nodes(loaded.tree);
    refuse_unplaced();
    read_tree_fields(*tree, loaded.tree);
    read_top_level(json, loaded.tree);
    if (const auto ours = json.find("ksearch"); ours != json.end()) {
      KS_RETURN_IF_ERROR(read_ours(*ours, loaded.tree));
    }
    loaded.refused = std::move(refused_);
    loaded.notes = std::move(notes_);
    return loaded;
  }

 private:
  static std::string id_at(const Json& json, const char* key) {
    const auto it = json.find(key);
    return it == json.end() ? std::string() : read_id(*it);
  }

  void refuse(const std::string& id, std::string label, std::string why) {
    refused_.push_back({id, std::move(label), std::move(why)});
  }

  void read_nodes(const Json& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Json& json = nodes[i];
      std::string id = json.is_object() ? id_at(json, "node_id") : std::string();
      if (!json.is_object()) {
        refuse(fmt::format("nodes[{}]", i), "wrong_kind", "a node is an object");
        continue;
      }
      if (id.empty()) {
        id = fmt::format("n{}", i);  // the id K-Search gives it
        notes_.push_back(fmt::format("nodes[{}] has no node_id, named {}", i, id));
      }
      if (by_id_.contains(id)) {
        refuse(id, "duplicate_id",
               fmt::format("nodes[{}]: the id is taken by nodes[{}]", i,
                           candidates_[by_id_[id]].index));
        continue;
      }
      NodeReader reader(true, id);
      Candidate candidate{reader.read(json), i};
      for (std::string& note : reader.notes()) notes_.push_back(std::move(note));
      candidate.node.id = id;
      candidate.node.parent = id_at(json, "parent_id");
      if (id != root_id_ && candidate.node.parent.empty()) {
        candidate.node.parent = root_id_;
        notes_.push_back(fmt::format("{} has no parent_id, hung under {}", id, root_id_));
      }
      by_id_.emplace(id, candidates_.size());
      candidates_.push_back(std::move(candidate));
    }
  }

  Tree place_root() {
    const auto it = by_id_.find(root_id_);
    if (it == by_id_.end()) {
      notes_.push_back(fmt::format("there is no node {}, added as the root", root_id_));
      return Tree(root_id_);
    }
    Candidate& root = candidates_[it->second];
    if (!root.node.parent.empty()) {
      notes_.push_back(
          fmt::format("{} is the root; its parent_id {} was left out", root_id_, root.node.parent));
      root.node.parent.clear();
    }
    root.node.type = "root";
    root.placed = true;
    return Tree(root.node);
  }

  /// In the order of the file, children that come before their parent right after it.
  void place_nodes(Tree& tree) {
    std::map<std::string, std::vector<std::size_t>> waiting;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].placed) continue;
      if (!tree.contains(candidates_[i].node.parent)) {
        waiting[candidates_[i].node.parent].push_back(i);
        continue;
      }
      std::vector<std::size_t> ready{i};
      for (std::size_t at = 0; at < ready.size(); ++at) {
        Candidate& next = candidates_[ready[at]];
        next.placed = true;
        if (const auto it = waiting.find(next.node.id); it != waiting.end()) {
          ready.insert(ready.end(), it->second.begin(), it->second.end());
          waiting.erase(it);
        }
        tree.insert(next.node);
      }
    }
  }

  /// Whoever was not placed hangs on nothing, is on a cycle, or hangs on one that does.
  void refuse_unplaced() {
    const std::set<std::size_t> on_cycle = find_cycles();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].placed) continue;
      const auto& [id, parent] = std::tie(candidates_[i].node.id, candidates_[i].node.parent);
      if (on_cycle.contains(i)) {
        refuse(id, "cycle", fmt::format("it is its own ancestor, through {}", parent));
      } else if (!by_id_.contains(parent)) {
        refuse(id, "unknown_node", fmt::format("there is no node {}", parent));
      } else {
        refuse(id, "unknown_node", fmt::format("its parent {} was refused", parent));
      }
    }
  }

  /// Walks up from each node once; a walk that meets itself has found a cycle.
  std::set<std::size_t> find_cycles() const {
    std::set<std::size_t> found;
    std::vector<std::size_t> walk_of(candidates_.size(), 0);  // 0: not visited
    for (std::size_t start = 0; start < candidates_.size(); ++start) {
      std::vector<std::size_t> walk;
      std::size_t at = start;
      while (!candidates_[at].placed && walk_of[at] == 0) {
        walk_of[at] = start + 1;
        walk.push_back(at);
        const auto parent = by_id_.find(candidates_[at].node.parent);
        if (parent == by_id_.end()) break;
        at = parent->second;
      }
      const bool closed = !walk.empty() && walk_of[at] == start + 1 &&
                          candidates_[walk.back()].node.parent == candidates_[at].node.id;
      if (!closed) continue;
      const auto first = std::ranges::find(walk, at);
      found.insert(first, walk.end());
    }
    return found;
  }

  void read_tree_fields(const Json& json, Tree& tree) {
    const std::string active = id_at(json, "active_leaf_id");
    if (tree.contains(active)) {
      tree.active_leaf_id = active;
    } else if (!active.empty()) {
      notes_.push_back(fmt::format("active_leaf_id {} is no node, taken as the root", active));
    }
    for (const auto& [key, value] : json.items()) {
      if (key == "root_id" || key == "active_leaf_id" || key == "nodes") continue;
      if (tree.tree_extra.is_null()) tree.tree_extra = Json::object();
      tree.tree_extra[key] = value;
      notes_.push_back(fmt::format("decision_tree.{} is unknown, kept as it is", key));
    }
  }

  void read_top_level(const Json& json, Tree& tree) {
    for (const auto& [key, value] : json.items()) {
      if (key == "decision_tree" || key == "ksearch") continue;
      if (key == "kernel_summary" && value.is_string()) {
        tree.kernel_summary = value.get<std::string>();
      } else if (key == "open_questions" && value.is_array()) {
        for (const Json& question : value) {
          tree.open_questions.push_back(question.is_string() ? question.get<std::string>()
                                                             : base::to_line(question));
        }
      } else if (key == "computed_signals" && value.is_object()) {
        tree.computed_signals = value;
      } else {
        if (tree.extra.is_null()) tree.extra = Json::object();
        tree.extra[key] = value;
        notes_.push_back(fmt::format("{} is unknown, kept as it is", key));
      }
    }
  }

  base::Result<void> read_ours(const Json& json, Tree& tree) {
    const std::string where = where_ + ": ksearch";
    base::ObjectReader in(json, where);
    const std::string format = in.text("format");
    if (in.ok() && format != kOursFormat) {
      return base::usage_error(
          where, fmt::format("format is {}, this ksearch reads {}", format, kOursFormat),
          "use a newer ksearch");
    }
    const Json& nodes = in.object("nodes");
    KS_RETURN_IF_ERROR(in.finish());
    for (const auto& [id, value] : nodes.items()) {
      const Node* node = tree.find(id);
      if (!node) {
        notes_.push_back(fmt::format("ksearch.nodes.{} is no node of the tree, left out", id));
        continue;
      }
      KS_TRY(Ours ours, parse_ours(value, fmt::format("{}.nodes.{}", where, id)));
      Node with = *node;
      with.ours = ours;
      tree.replace(std::move(with));
    }
    return {};
  }

  std::string where_;
  std::string root_id_;
  std::vector<Candidate> candidates_;
  std::map<std::string, std::size_t> by_id_;
  std::vector<RefusedNode> refused_;
  std::vector<std::string> notes_;
};

}  // namespace

base::Result<LoadedWorldModel> read_world_model(const Json& json, std::string_view where) {
  if (!json.is_object()) return base::usage_error(std::string(where), "a world model is an object");
  return Loader(std::string(where)).load(json);
}

base::Result<LoadedWorldModel> load_world_model(std::string_view text, std::string_view where) {
  KS_TRY(const Json json, base::parse_json(text, where));
  return read_world_model(json, where);
}

Json world_model_json(const Tree& tree) {
  Json nodes = Json::array();
  Json ours = Json::object();
  for (const Node* node : tree.nodes()) {
    nodes.push_back(to_json(*node));
    if (Json mine = to_json(node->ours); !mine.is_null()) ours[node->id] = std::move(mine);
  }
  Json decision_tree{{"root_id", tree.root().id}, {"active_leaf_id", tree.active_leaf_id}};
  base::add_members(decision_tree, tree.tree_extra);
  decision_tree["nodes"] = std::move(nodes);
  Json json{{"kernel_summary", tree.kernel_summary},
            {"open_questions", tree.open_questions},
            {"decision_tree", std::move(decision_tree)}};
  if (!tree.computed_signals.is_null()) json["computed_signals"] = tree.computed_signals;
  base::add_members(json, tree.extra);
  json["ksearch"] = Json{{"format", kOursFormat}, {"nodes", std::move(ours)}};
  return json;
}

}  // namespace ksearch::tree
