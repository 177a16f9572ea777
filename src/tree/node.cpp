#include "tree/node.h"

#include <utility>

namespace ksearch::tree {
namespace {

using base::Json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Impact& impact) {
  Json json{{"rating_0_to_10", impact.rating}, {"risk", impact.risk}, {"notes", impact.notes}};
  base::add_members(json, impact.extra);
  return json;
}

Json to_json(const Impacts& impacts) {
  Json fit = to_json(impacts.compute_intensity_and_hw_fit);
  fit["hw_notes"] = impacts.hw_notes;
  Json json{{"memory_bandwidth", to_json(impacts.memory_bandwidth)},
            {"register_pressure", to_json(impacts.register_pressure)},
            {"compute_intensity_and_hw_fit", std::move(fit)}};
  base::add_members(json, impacts.extra);
  return json;
}

Json to_json(const SolutionRef& ref) {
  Json json{{"solution_id", or_null(ref.solution_id)},
            {"parent_solution_id", or_null(ref.parent_solution_id)},
            {"eval", ref.eval.is_object() ? ref.eval : Json{{"status", ""}}}};
  base::add_members(json, ref.extra);
  return json;
}

}  // namespace

Json to_json(const Action& action) {
  Json json{{"title", action.title},
            {"description", action.description},
            {"difficulty_1_to_5", action.difficulty},
            {"score_0_to_1", action.score},
            {"expected_vs_baseline_factor", or_null(action.expected)},
            {"rationale", action.rationale}};
  base::add_members(json, action.extra);
  return json;
}

Json to_json(const Node& node) {
  Json json{{"node_id", node.id},
            {"parent_id", node.is_root() ? Json(nullptr) : Json(node.parent)},
            {"node_type", node.type},
            {"decision", or_null(node.decision)},
            {"choice", or_null(node.choice)},
            {"solution_ref", to_json(node.solution)},
            {"impacts", to_json(node.impacts)},
            {"overall_rating_0_to_10", node.rating},
            {"confidence_0_to_1", node.confidence},
            {"last_updated_round", node.last_updated_round},
            {"notes", node.notes},
            {"action", to_json(node.action)}};
  base::add_members(json, node.extra);
  return json;
}

Json to_json(const Ours& ours) {
  if (ours == Ours{}) return nullptr;
  Json json = Json::object();
  const auto put = [&](const char* key, const std::optional<double>& value) {
    if (value) json[key] = *value;
  };
  put("score", ours.score);
  put("score_low", ours.score_low);
  put("predicted_gain", ours.predicted_gain);
  put("measured_gain", ours.measured_gain);
  if (ours.cycles) json["cycles"] = ours.cycles;
  if (ours.failed_cycles) json["failed_cycles"] = ours.failed_cycles;
  return json;
}

base::Result<Ours> parse_ours(const Json& json, std::string_view where) {
  base::ObjectReader in(json, std::string(where));
  Ours ours;
  const auto get = [&](const char* key, std::optional<double>& to) {
    if (in.has(key)) to = in.number(key);
  };
  get("score", ours.score);
  get("score_low", ours.score_low);
  get("predicted_gain", ours.predicted_gain);
  get("measured_gain", ours.measured_gain);
  ours.cycles = static_cast<int>(in.integer_or("cycles", 0));
  ours.failed_cycles = static_cast<int>(in.integer_or("failed_cycles", 0));
  KS_RETURN_IF_ERROR(in.finish());
  return ours;
}

}  // namespace ksearch::tree
