// Reads nodes and patches of nodes from JSON that a model or K-Search wrote. Internal to `tree`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree/edit.h"
#include "tree/node.h"

namespace ksearch::tree {

/// A fault of one field.
struct FieldFault {
  Refusal label = Refusal::wrong_kind;
  std::string text;  ///< names the field
};

/// `forgiving`: what is out of range is clamped, what cannot be read is left out, each with a note.
/// Otherwise both are faults. Numbers given as text and unknown keys are noted in either mode.
class NodeReader {
 public:
  NodeReader(bool forgiving, std::string place) : forgiving_(forgiving), place_(std::move(place)) {}

  /// A whole node, without id and parent, which are the caller's to judge.
  Node read(const base::Json& json);
  /// Sets what `patch` has; returns the fields set: "notes", "action.title".
  std::vector<std::string> patch(Node& node, const base::Json& patch);

  const std::vector<FieldFault>& faults() const { return faults_; }
  std::vector<std::string>& notes() { return notes_; }

 private:
  struct Range {
    double low, high;
  };
  void fault(Refusal label, std::string text);
  void note(std::string text);
  std::optional<double> number(const base::Json& value, const std::string& field, Range range);
  std::optional<int> whole(const base::Json& value, const std::string& field, Range range);
  std::optional<std::string> text(const base::Json& value, const std::string& field);
  void unknown(base::Json& extra, const std::string& key, const base::Json& value,
               const std::string& field);

  bool set_node(Node& node, const std::string& key, const base::Json& value);
  bool set_blog_form(Node& node, const std::string& key, const base::Json& value);
  void set_action(Node& node, const base::Json& json);
  void set_action_field(Action& action, const std::string& key, const base::Json& value);
  void set_impacts(Impacts& impacts, const base::Json& json);
  void set_impact(Impact& impact, std::string* hw_notes, const base::Json& json,
                  const std::string& field);
  void set_solution(SolutionRef& ref, const base::Json& json);

  bool forgiving_;
  bool score_given_ = false;
  std::string place_;
  std::vector<FieldFault> faults_;
  std::vector<std::string> notes_;
  std::vector<std::string> fields_;
};

/// The text of an id: trimmed, numbers as text; empty where there is none.
std::string read_id(const base::Json& json);

}  // namespace ksearch::tree
