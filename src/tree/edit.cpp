#include "tree/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tree/node_reader.h"

namespace ksearch::tree {
namespace {

using base::Json;

/// What stopped an operation; the first fault names the label, the texts of all are kept.
struct Fault {
  Refusal label;
  std::string why;
};
using Judged = std::expected<void, Fault>;

std::unexpected<Fault> refuse(Refusal label, std::string why) {
  return std::unexpected(Fault{label, std::move(why)});
}

Judged judge(const NodeReader& reader) {
  if (reader.faults().empty()) return {};
  std::string why;
  for (const FieldFault& fault : reader.faults()) {
    if (!why.empty()) why += "; ";
    why += fault.text;
  }
  return refuse(reader.faults().front().label, std::move(why));
}

std::string text_of(const Json& op, const char* key) {
  const auto it = op.find(key);
  return it == op.end() ? std::string() : read_id(*it);
}

/// Applies one script to one tree.
class Application {
 public:
  Application(Tree& tree, const EditOptions& options) : tree_(tree), options_(options) {}

  void run(const Json& op, std::size_t index) {
    index_ = index;
    op_ = op.is_object() ? text_of(op, "op") : std::string();
    const Judged judged = dispatch(op);
    if (!judged) note_refusal(judged.error());
  }

  EditReport report;

 private:
  Judged dispatch(const Json& op) {
    if (!op.is_object()) return refuse(Refusal::wrong_kind, "the operation is not an object");
    if (op_ == "update_node") return update(op);
    if (op_ == "insert_node") return insert(op);
    if (op_ == "split_node") return split(op);
    if (op_ == "delete_node") return remove(op, "deleted by the planner");
    if (op_ == "prune") return remove(op, text_of(op, "why"));
    return refuse(Refusal::unknown_op, fmt::format("there is no operation '{}'", op_));
  }

  void note_refusal(const Fault& fault) {
    report.refused.push_back({index_, op_, fault.label, fault.why});
  }

  /// The node an operation names, if its author could have seen it.
  std::expected<const Node*, Fault> known(const Json& op, const char* key) const {
    const std::string id = text_of(op, key);
    if (id.empty()) return refuse(Refusal::missing_field, fmt::format("{} is missing", key));
    const Node* node = tree_.find(id);
    if (!node) return refuse(Refusal::unknown_node, fmt::format("there is no node {}", id));
    if (tree_.born(id) > options_.seen_revision && !made_.contains(id)) {
      return refuse(Refusal::unknown_node,
                    fmt::format("node {} is newer than the tree the script was written for", id));
    }
    return node;
  }

  std::expected<std::vector<std::string>, Fault> patched(Node& node, const Json& op,
                                                         const char* key) {
    const auto it = op.find(key);
    if (it == op.end()) return refuse(Refusal::missing_field, fmt::format("{} is missing", key));
    if (!it->is_object()) {
      return refuse(Refusal::wrong_kind, fmt::format("{} is not an object", key));
    }
    NodeReader reader(false, node.id);
    auto fields = reader.patch(node, *it);
    if (Judged judged = judge(reader); !judged) return std::unexpected(judged.error());
    if (!node.closed() && node.action.title.empty()) {
      return refuse(Refusal::missing_field, "action.title would be empty");
    }
    keep_notes(reader);
    return fields;
  }

  void keep_notes(NodeReader& reader) {
    for (std::string& note : reader.notes()) report.notes.push_back(std::move(note));
  }

  void commit(Node node, std::vector<std::string> fields, const Action& before) {
    node.last_updated_round = options_.round;
    // A new idea gets its cycles anew; a new number does not.
    if (node.action.title != before.title || node.action.description != before.description) {
      node.ours.failed_cycles = 0;
    }
    Change change{Change::Kind::updated, index_, node.id, {}, std::move(fields), {}};
    tree_.replace(std::move(node));
    report.changes.push_back(std::move(change));
  }

  Judged update(const Json& op) {
    const auto found = known(op, "node_id");
    if (!found) return std::unexpected(found.error());
    Node node = **found;
    const Action before = node.action;
    auto fields = patched(node, op, "patch");
    if (!fields) return std::unexpected(fields.error());
    commit(std::move(node), std::move(*fields), before);
    return {};
  }

  Judged insert(const Json& op) {
    const auto node = op.find("node");
    if (node == op.end() || !node->is_object()) {
      return refuse(Refusal::missing_field, "node is missing, or no object");
    }
    const auto parent = known(op, "parent_id");
    if (!parent) {
      return refuse(parent.error().label,
                    fmt::format("new node {}: {}", text_of(*node, "node_id"), parent.error().why));
    }
    const std::string solution = text_of(op, "parent_solution_id");
    const auto& actual = (*parent)->solution.solution_id;
    if (!solution.empty() && solution != actual.value_or("")) {
      return refuse(Refusal::wrong_parent_solution,
                    fmt::format("parent_solution_id is {}, but node {} has {}", solution,
                                (*parent)->id, actual.value_or("none")));
    }
    return add_child(*node, (*parent)->id);
  }

  Judged split(const Json& op) {
    const auto found = known(op, "node_id");
    if (!found) return std::unexpected(found.error());
    const std::string id = (*found)->id;
    const auto children = op.find("children");
    if (children == op.end() || !children->is_array()) {
      return refuse(Refusal::missing_field, "children is missing, or no list");
    }
    if (op.contains("parent_patch") && !op["parent_patch"].is_null()) {
      Node node = **found;
      const Action before = node.action;
      auto fields = patched(node, op, "parent_patch");
      if (!fields) return std::unexpected(fields.error());
      if (!fields->empty()) commit(std::move(node), std::move(*fields), before);
    }
    for (std::size_t i = 0; i < children->size(); ++i) {
      if (Judged judged = add_child((*children)[i], id); !judged) {
        judged.error().why = fmt::format("children[{}]: {}", i, judged.error().why);
        note_refusal(judged.error());
      }
    }
    return {};
  }

  Judged add_child(const Json& json, const std::string& parent) {
    if (!json.is_object()) return refuse(Refusal::wrong_kind, "the node is not an object");
    std::string id = text_of(json, "node_id");
    if (!id.empty() && id == text_of(json, "parent_id")) {
      return refuse(Refusal::cycle, fmt::format("node {} is its own parent", id));
    }
    if (const std::string other = text_of(json, "parent_id"); !other.empty() && other != parent) {
      return refuse(Refusal::not_allowed,
                    fmt::format("parent_id of the node is {}, of the operation {}", other, parent));
    }
    if (!id.empty() && tree_.id_taken(id)) {
      return refuse(Refusal::duplicate_id,
                    fmt::format("id {} is {}", id, tree_.contains(id) ? "taken" : "used up"));
    }
    NodeReader reader(false, id.empty() ? "new node" : id);
    Node node = reader.read(json);
    if (Judged judged = judge(reader); !judged) return judged;
    if (node.solution.solution_id) {
      return refuse(Refusal::not_allowed, "solution_ref is the engine's to set");
    }
    if (node.action.title.empty()) return refuse(Refusal::missing_field, "action.title is missing");
    if (report.new_nodes() >= options_.new_nodes) {
      return refuse(Refusal::too_many_new_nodes,
                    fmt::format("an update may add {} nodes", options_.new_nodes));
    }
    keep_notes(reader);
    node.id = id.empty() ? free_id(tree_, "node") : std::move(id);
    node.parent = parent;
    node.type = "decision";
    node.solution = {};
    node.solution.parent_solution_id = tree_.at(parent).solution.solution_id;
    node.last_updated_round = options_.round;
    made_.insert(node.id);
    report.changes.push_back({Change::Kind::inserted, index_, node.id, parent, {}, {}});
    tree_.insert(std::move(node));
    return {};
  }

  Judged remove(const Json& op, std::string why) {
    const auto found = known(op, "node_id");
    if (!found) return std::unexpected(found.error());
    const Node& node = **found;
    if (why.empty()) return refuse(Refusal::missing_field, "why is missing");
    if (node.closed() || tree_.has_children(node.id)) {
      return refuse(Refusal::not_an_open_leaf, fmt::format("node {} {}", node.id,
                                                           node.is_root()  ? "is the root"
                                                           : node.closed() ? "has a program"
                                                                           : "has children"));
    }
    if (options_.in_use.contains(node.id)) {
      return refuse(Refusal::in_use, fmt::format("node {} is being worked on", node.id));
    }
    if (node.ours.failed_cycles == 1) {
      return refuse(Refusal::tried_once,
                    fmt::format("node {} failed once; it can go after a second failure", node.id));
    }
    report.changes.push_back(
        {Change::Kind::removed, index_, node.id, node.parent, {}, std::move(why)});
    tree_.remove(std::string(node.id));
    return {};
  }

  Tree& tree_;
  const EditOptions& options_;
  std::size_t index_ = 0;
  std::string op_;
  std::set<std::string, std::less<>> made_;  // by this script
};

}  // namespace

std::string_view name(Refusal refusal) {
  switch (refusal) {
    case Refusal::unknown_op:
      return "unknown_op";
    case Refusal::unknown_node:
      return "unknown_node";
    case Refusal::duplicate_id:
      return "duplicate_id";
    case Refusal::cycle:
      return "cycle";
    case Refusal::missing_field:
      return "missing_field";
    case Refusal::wrong_kind:
      return "wrong_kind";
    case Refusal::out_of_range:
      return "out_of_range";
    case Refusal::not_allowed:
      return "not_allowed";
    case Refusal::not_an_open_leaf:
      return "not_an_open_leaf";
    case Refusal::tried_once:
      return "tried_once";
    case Refusal::wrong_parent_solution:
      return "wrong_parent_solution";
    case Refusal::too_many_new_nodes:
      return "too_many_new_nodes";
    case Refusal::in_use:
      return "in_use";
  }
  return "unknown";
}

int EditReport::new_nodes() const {
  return static_cast<int>(std::ranges::count(changes, Change::Kind::inserted, &Change::kind));
}

base::Result<EditScript> parse_edit_script(const Json& json, std::string_view where) {
  if (!json.is_object()) return base::usage_error(std::string(where), "no object with ops");
  const auto ops = json.find("ops");
  if (ops == json.end() || !ops->is_array()) {
    return base::usage_error(std::string(where), "ops is missing, or no list",
                             R"(write {"ops": [...]})");
  }
  EditScript script;
  for (const Json& op : *ops) script.ops.push_back(op);
  if (std::string active = text_of(json, "active_leaf_id"); !active.empty()) {
    script.active_leaf_id = std::move(active);
  }
  if (const auto it = json.find("kernel_summary"); it != json.end() && it->is_string())
    script.kernel_summary = it->get<std::string>();
  if (const auto it = json.find("open_questions"); it != json.end() && it->is_array()) {
    script.open_questions.emplace();
    for (const Json& question : *it)
      if (question.is_string()) script.open_questions->push_back(question.get<std::string>());
  }
  return script;
}

Json to_json(const EditScript& script) {
  Json ops = Json::array();
  for (const Json& op : script.ops) ops.push_back(op);
  Json json{{"ops", std::move(ops)}};
  if (script.active_leaf_id) json["active_leaf_id"] = *script.active_leaf_id;
  if (script.kernel_summary) json["kernel_summary"] = *script.kernel_summary;
  if (script.open_questions) json["open_questions"] = *script.open_questions;
  return json;
}

Json insert_op(std::string_view parent_id, const Node& node) {
  Json inner = to_json(node);
  for (const char* key : {"parent_id", "node_type", "solution_ref", "last_updated_round"}) {
    inner.erase(key);
  }
  return {{"op", "insert_node"}, {"parent_id", parent_id}, {"node", std::move(inner)}};
}

Json update_op(std::string_view node_id, Json patch) {
  return {{"op", "update_node"}, {"node_id", node_id}, {"patch", std::move(patch)}};
}

Json prune_op(std::string_view node_id, std::string_view why) {
  return {{"op", "prune"}, {"node_id", node_id}, {"why", why}};
}

EditReport apply(Tree& tree, const EditScript& script, const EditOptions& options) {
  Application application(tree, options);
  for (std::size_t i = 0; i < script.ops.size(); ++i) application.run(script.ops[i], i);
  if (script.kernel_summary) tree.kernel_summary = *script.kernel_summary;
  if (script.open_questions) tree.open_questions = *script.open_questions;
  if (script.active_leaf_id) {
    if (tree.contains(*script.active_leaf_id)) {
      tree.active_leaf_id = *script.active_leaf_id;
    } else {
      application.report.notes.push_back(
          fmt::format("active_leaf_id {} is no node, left as it was", *script.active_leaf_id));
    }
  }
  return std::move(application.report);
}

}  // namespace ksearch::tree
