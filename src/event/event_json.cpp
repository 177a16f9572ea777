// Events as JSON, for the journal and for whoever reads it.
#include <utility>

#include "base/match.h"
#include "event/event.h"

namespace ksearch::event {
namespace {

using base::Json;
using base::Match;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

void put(Json& json, const char* key, const std::optional<kernel::Ratio>& ratio) {
  if (ratio) json[key] = {{"value", ratio->value}, {"low", ratio->low}, {"high", ratio->high}};
}

void put(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

/// An outcome in the event leaves its samples out: the told line has them.
Json brief(const kernel::Outcome& outcome) {
  Json json = kernel::to_json(outcome);
  if (!json.contains("detail") || !json["detail"].contains("workloads")) return json;
  for (Json& workload : json["detail"]["workloads"]) workload.erase("samples_ns");
  return json;
}

struct Members {
  Json operator()(const RunStarted& e) const {
    return {{"task", e.task},
            {"target", e.target},
            {"device", e.device},
            {"engineer", e.engineer},
            {"strategy", e.strategy},
            {"seed", e.seed},
            {"limits", to_json(e.limits)}};
  }
  Json operator()(const NodeInserted& e) const {
    Json json{{"node_id", e.node_id},       {"parent_id", e.parent_id}, {"title", e.title},
              {"difficulty", e.difficulty}, {"score", e.score},         {"rating", e.rating}};
    put(json, "expected", e.expected);
    return json;
  }
  Json operator()(const NodeUpdated& e) const {
    Json json{{"node_id", e.node_id}, {"fields", e.fields}, {"difficulty", e.difficulty},
              {"score", e.score},     {"rating", e.rating}, {"by", e.by}};
    put(json, "expected", e.expected);
    return json;
  }
  Json operator()(const NodeClosed& e) const {
    Json json{{"node_id", e.node_id}, {"program", e.program}};
    put(json, "score", e.score);
    put(json, "predicted_gain", e.predicted_gain);
    put(json, "measured_gain", e.measured_gain);
    return json;
  }
  Json operator()(const NodePruned& e) const { return {{"node_id", e.node_id}, {"why", e.why}}; }
  Json operator()(const EditRefused& e) const {
    return {{"index", e.index}, {"op", e.op}, {"label", e.label}, {"why", e.why}};
  }
  Json operator()(const CycleStarted& e) const {
    return {
        {"cycle", e.cycle}, {"node_id", e.node_id}, {"parent_id", e.parent_id}, {"title", e.title}};
  }
  Json operator()(const CycleEnded& e) const {
    Json json{{"cycle", e.cycle}, {"node_id", e.node_id}, {"how", e.how}, {"attempts", e.attempts}};
    put(json, "best_program", e.best_program);
    put(json, "score", e.score);
    return json;
  }
  Json operator()(const Asked& e) const {
    Json json{{"id", e.id}, {"kind", e.kind}};
    put(json, "node_id", e.node_id);
    if (e.attempt) json["attempt"] = e.attempt;
    put(json, "program", e.program);
    put(json, "what", e.what);
    return json;
  }
  Json operator()(const Answered& e) const {
    Json json{{"id", e.id}, {"kind", e.kind}, {"answer", e.answer}};
    put(json, "what", e.what);
    if (e.tokens) json["tokens"] = e.tokens;
    if (e.cost_usd > 0) json["cost_usd"] = e.cost_usd;
    return json;
  }
  Json operator()(const StageProgress& e) const {
    return {{"id", e.id}, {"node_id", e.node_id}, {"what", e.what}};
  }
  Json operator()(const Evaluated& e) const {
    return {{"id", e.id},
            {"node_id", e.node_id},
            {"program", e.program},
            {"attempt", e.attempt},
            {"outcome", brief(e.outcome)}};
  }
  Json operator()(const BestImproved& e) const {
    Json json{{"node_id", e.node_id}, {"program", e.program}, {"modelled", e.modelled}};
    put(json, "score", e.score);
    put(json, "naive", e.naive);
    put(json, "expert", e.expert);
    put(json, "expert_name", e.expert_name);
    return json;
  }
  Json operator()(const BudgetSpent& e) const {
    return {{"spent", to_json(e.spent)}, {"limits", to_json(e.limits)}};
  }
  Json operator()(const Note& e) const { return {{"text", e.text}}; }
  Json operator()(const Certified& e) const {
    return {{"node_id", e.node_id},
            {"program", e.program},
            {"rank", e.rank},
            {"passed", e.passed},
            {"summary", e.summary}};
  }
  Json operator()(const RunEnded& e) const {
    Json json{{"status", e.status}, {"why", e.why}, {"certificate", e.certificate}};
    put(json, "best_program", e.best_program);
    return json;
  }
};

}  // namespace

Json to_json(const Event& event) {
  Json json{{"event", name(event)}, {"at", seconds(event.at)}};
  const Json members = std::visit(Members{}, event.what);
  for (const auto& [key, value] : members.items()) json[key] = value;
  return json;
}

Json to_json(const Limits& limits) {
  Json json = Json::object();
  put(json, "evaluations", limits.evaluations);
  if (limits.wall) json["wall_ns"] = limits.wall->count();
  put(json, "tokens", limits.tokens);
  put(json, "cost_usd", limits.cost_usd);
  return json;
}

base::Result<Limits> parse_limits(const Json& json, std::string_view where) {
  base::ObjectReader in(json, std::string(where));
  Limits limits;
  if (in.has("evaluations")) limits.evaluations = in.integer("evaluations");
  if (in.has("wall_ns")) limits.wall = std::chrono::nanoseconds(in.integer("wall_ns"));
  if (in.has("tokens")) limits.tokens = in.integer("tokens");
  if (in.has("cost_usd")) limits.cost_usd = in.number("cost_usd");
  KS_RETURN_IF_ERROR(in.finish());
  return limits;
}

Json to_json(const Spent& spent) {
  Json json{{"evaluations", spent.evaluations},
            {"wall_ns", spent.wall.count()},
            {"tokens", spent.tokens},
            {"cost_usd", spent.cost_usd}};
  if (spent.tokens_out > 0) json["tokens_out"] = spent.tokens_out;
  if (spent.tokens_cached > 0) json["tokens_cached"] = spent.tokens_cached;
  if (spent.calls > 0) json["calls"] = spent.calls;
  if (spent.tokens_estimated) json["tokens_estimated"] = true;
  return json;
}

}  // namespace ksearch::event
