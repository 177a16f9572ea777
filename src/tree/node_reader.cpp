#include "tree/node_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ksearch::tree {
namespace {

using base::Json;

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::optional<double> number_in(const std::string& text) {
  const std::string trimmed = trim(text);
  if (trimmed.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(trimmed.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A title for an action that is only a text: its first clause, at most 80 bytes of it.
std::string title_of(const std::string& action) {
  std::string title = action.substr(0, action.find_first_of(":.\n;"));
  if (title.size() > 80) {
    const auto space = title.rfind(' ', 80);
    title.resize(space == std::string::npos ? 80 : space);
    while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xC0) == 0x80) {
      title.pop_back();  // half of a UTF-8 sequence
    }
  }
  return trim(title);
}

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

}  // namespace

std::string read_id(const Json& json) {
  if (json.is_string()) return trim(json.get_ref<const std::string&>());
  if (json.is_number()) return json.dump();
  return {};
}

void NodeReader::fault(Refusal label, std::string text) {
  faults_.push_back({label, std::move(text)});
}

void NodeReader::note(std::string text) { notes_.push_back(place_ + ": " + std::move(text)); }

std::optional<double> NodeReader::number(const Json& value, const std::string& field, Range range) {
  if (value.is_null()) return std::nullopt;
  std::optional<double> got;
  if (value.is_number()) got = value.get<double>();
  if (value.is_string()) {
    got = number_in(value.get_ref<const std::string&>());
    if (got) note(fmt::format("{} is a number written as text", field));
  }
  if (!got) {
    std::string why = fmt::format("{} is {}, not a number", field, base::to_line(value));
    if (forgiving_) {
      note(std::move(why) + ", left out");
    } else {
      fault(Refusal::wrong_kind, std::move(why));
    }
    return std::nullopt;
  }
  if (*got >= range.low && *got <= range.high) return got;
  std::string why =
      fmt::format("{} is {}, not within {} to {}", field, *got, range.low, range.high);
  if (!forgiving_) {
    fault(Refusal::out_of_range, std::move(why));
    return std::nullopt;
  }
  got = std::clamp(*got, range.low, range.high);
  note(fmt::format("{}, taken as {}", why, *got));
  return got;
}

std::optional<int> NodeReader::whole(const Json& value, const std::string& field, Range range) {
  const auto got = number(value, field, range);
  if (!got) return std::nullopt;
  if (*got == std::trunc(*got)) return static_cast<int>(*got);
  std::string why = fmt::format("{} is {}, not a whole number", field, *got);
  if (!forgiving_) {
    fault(Refusal::out_of_range, std::move(why));
    return std::nullopt;
  }
  note(fmt::format("{}, taken as {}", why, std::trunc(*got)));
  return static_cast<int>(*got);
}

std::optional<std::string> NodeReader::text(const Json& value, const std::string& field) {
  if (value.is_null()) return std::nullopt;
  if (value.is_string()) return value.get<std::string>();
  std::string why = fmt::format("{} is not a text", field);
  if (!forgiving_) {
    fault(Refusal::wrong_kind, std::move(why));
    return std::nullopt;
  }
  note(std::move(why) + ", kept as one");
  return base::to_line(value);
}

void NodeReader::unknown(Json& extra, const std::string& key, const Json& value,
                         const std::string& field) {
  if (extra.is_null()) extra = Json::object();
  extra[key] = value;
  note(fmt::format("{} is unknown, kept as it is", field));
}

Node NodeReader::read(const Json& json) {
  Node node;
  score_given_ = false;
  for (const auto& [key, value] : json.items()) {
    if (key == "node_id" || key == "parent_id") continue;
    if (key == "solution_ref") {
      set_solution(node.solution, value);
    } else if (!set_node(node, key, value) && !set_blog_form(node, key, value)) {
      unknown(node.extra, key, value, key);
    }
  }
  if (!score_given_ && json.contains("action")) {
    node.action.score = node.rating / 10.0;
    if (!node.action.title.empty()) {
      note(fmt::format("action.score_0_to_1 is missing, taken from the rating as {}",
                       node.action.score));
    }
  }
  return node;
}

std::vector<std::string> NodeReader::patch(Node& node, const Json& patch) {
  fields_.clear();
  for (const auto& [key, value] : patch.items()) {
    if (key == "last_updated_round") continue;  // the engine counts rounds
    if (key == "solution_ref") {
      fault(Refusal::not_allowed, "solution_ref is the engine's to set");
    } else if (key == "node_id" || key == "parent_id" || key == "node_type") {
      const std::string& now = key == "node_id"     ? node.id
                               : key == "parent_id" ? node.parent
                                                    : node.type;
      if (read_id(value) != now) {
        fault(Refusal::not_allowed, fmt::format("{} of a node cannot be changed", key));
      }
    } else if (node.is_root() && (key == "decision" || key == "choice")) {
      if (!value.is_null()) {
        fault(Refusal::not_allowed, fmt::format("the root has no {}", key));
      }
    } else if (!set_node(node, key, value) && !set_blog_form(node, key, value)) {
      unknown(node.extra, key, value, key);
      fields_.push_back(key);
    }
  }
  return fields_;
}

bool NodeReader::set_node(Node& node, const std::string& key, const Json& value) {
  if (key == "action") {
    set_action(node, value);
    return true;
  }
  if (key == "impacts") {
    set_impacts(node.impacts, value);
    return true;
  }
  if (key == "decision") {
    node.decision = text(value, key);
  } else if (key == "choice") {
    node.choice = text(value, key);
  } else if (key == "node_type") {
    node.type = text(value, key).value_or(node.type);
  } else if (key == "notes") {
    node.notes = text(value, key).value_or("");
  } else if (key == "overall_rating_0_to_10") {
    node.rating = number(value, key, {0, 10}).value_or(node.rating);
  } else if (key == "confidence_0_to_1") {
    node.confidence = number(value, key, {0, 1}).value_or(node.confidence);
  } else if (key == "last_updated_round") {
    node.last_updated_round = whole(value, key, {0, 1e9}).value_or(0);
  } else {
    return false;
  }
  fields_.push_back(key);
  return true;
}

/// The listing of the "From CUDA to MLX" post has these on the node itself.
bool NodeReader::set_blog_form(Node& node, const std::string& key, const Json& value) {
  if (key != "difficulty_1_to_5" && key != "score_0_to_1" && key != "difficulty_0_to_3" &&
      key != "expected_vs_baseline_factor" && key != "rationale") {
    return false;
  }
  note(fmt::format("{} stands on the node, taken as the action's", key));
  set_action_field(node.action, key, value);
  return true;
}

void NodeReader::set_action(Node& node, const Json& json) {
  if (json.is_string()) {
    node.action.description = json.get<std::string>();
    node.action.title = title_of(node.action.description);
    note("action is a text, taken as title and description");
    fields_.push_back("action.title");
    fields_.push_back("action.description");
    return;
  }
  if (!json.is_object()) {
    if (json.is_null()) return;
    if (!forgiving_) fault(Refusal::wrong_kind, "action is not an object");
    if (forgiving_) note("action is not an object, left out");
    return;
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "difficulty_0_to_3" && json.contains("difficulty_1_to_5")) continue;
    set_action_field(node.action, key, value);
  }
}

void NodeReader::set_action_field(Action& action, const std::string& key, const Json& value) {
  const std::string field = "action." + key;
  if (key == "title") {
    action.title = trim(text(value, field).value_or(""));
  } else if (key == "description") {
    action.description = text(value, field).value_or("");
  } else if (key == "rationale") {
    action.rationale = text(value, field).value_or("");
  } else if (key == "difficulty_1_to_5") {
    action.difficulty = whole(value, field, {1, 5}).value_or(action.difficulty);
  } else if (key == "difficulty_0_to_3") {
    if (const auto old = whole(value, field, {0, 3})) action.difficulty = *old + 1;
    note("action.difficulty_0_to_3 is an older scale, taken as one more");
  } else if (key == "score_0_to_1") {
    if (const auto score = number(value, field, {0, 1})) {
      action.score = *score;
      score_given_ = true;
    }
  } else if (key == "expected_vs_baseline_factor") {
    action.expected = number(value, field, {0, 1e9});
  } else {
    unknown(action.extra, key, value, field);
  }
  fields_.push_back(field);
}

void NodeReader::set_impacts(Impacts& impacts, const Json& json) {
  if (!json.is_object()) {
    if (json.is_null()) return;
    if (!forgiving_) fault(Refusal::wrong_kind, "impacts is not an object");
    if (forgiving_) note("impacts is not an object, left out");
    return;
  }
  for (const auto& [key, value] : json.items()) {
    const std::string field = "impacts." + key;
    if (key == "memory_bandwidth") {
      set_impact(impacts.memory_bandwidth, nullptr, value, field);
    } else if (key == "register_pressure") {
      set_impact(impacts.register_pressure, nullptr, value, field);
    } else if (key == "compute_intensity_and_hw_fit" || key == "compute_hw_fit") {
      set_impact(impacts.compute_intensity_and_hw_fit, &impacts.hw_notes, value, field);
    } else {
      unknown(impacts.extra, key, value, field);
    }
    fields_.push_back(field);
  }
}

void NodeReader::set_impact(Impact& impact, std::string* hw_notes, const Json& json,
                            const std::string& field) {
  if (json.is_number() || json.is_string()) {
    impact.rating = number(json, field, {0, 10}).value_or(impact.rating);
    if (json.is_number()) note(fmt::format("{} is a bare number, taken as its rating", field));
    return;
  }
  if (!json.is_object()) {
    if (json.is_null()) return;
    if (!forgiving_) fault(Refusal::wrong_kind, fmt::format("{} is not an object", field));
    if (forgiving_) note(fmt::format("{} is not an object, left out", field));
    return;
  }
  for (const auto& [key, value] : json.items()) {
    const std::string inner = field + "." + key;
    if (key == "rating_0_to_10") {
      impact.rating = number(value, inner, {0, 10}).value_or(impact.rating);
    } else if (key == "risk") {
      impact.risk = text(value, inner).value_or("");
    } else if (key == "notes") {
      impact.notes = text(value, inner).value_or("");
    } else if (key == "hw_notes" && hw_notes) {
      *hw_notes = text(value, inner).value_or("");
    } else {
      unknown(impact.extra, key, value, inner);
    }
  }
}

void NodeReader::set_solution(SolutionRef& ref, const Json& json) {
  if (!json.is_object()) {
    if (!json.is_null()) note("solution_ref is not an object, left out");
    return;
  }
  const auto id = [&](const char* key) -> std::optional<std::string> {
    std::string text = read_id(member(json, key));
    if (text.empty()) return std::nullopt;
    return text;
  };
  ref.solution_id = id("solution_id");
  ref.parent_solution_id = id("parent_solution_id");
  if (const Json& eval = member(json, "eval"); eval.is_object()) {
    ref.eval = eval;
  } else if (!eval.is_null()) {
    note("solution_ref.eval is not an object, left out");
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "solution_id" || key == "parent_solution_id" || key == "eval") continue;
    if (ref.extra.is_null()) ref.extra = Json::object();
    ref.extra[key] = value;  // K-Search's own attach writes solution_name and round_index
    if (key != "solution_name" && key != "round_index") {
      note(fmt::format("solution_ref.{} is unknown, kept as it is", key));
    }
  }
}

}  // namespace ksearch::tree
