#include "engineer/engineer.h"

#include <utility>

#include "base/match.h"
#include "tree/world_model.h"

namespace ksearch::engineer {
namespace {

using base::Json;
using base::Match;

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = *value;
}

void put_usage(Json& json, const Usage& usage) {
  if (usage.tokens_in == 0 && usage.tokens_out == 0 && usage.cost_usd == 0 && usage.calls == 0)
    return;
  json["usage"] = {{"tokens_in", usage.tokens_in},
                   {"tokens_out", usage.tokens_out},
                   {"cost_usd", usage.cost_usd}};
  if (usage.tokens_cached > 0) json["usage"]["tokens_cached"] = usage.tokens_cached;
  if (usage.calls > 0) json["usage"]["calls"] = usage.calls;
  if (usage.estimated) json["usage"]["estimated"] = true;
}

void put_notes(Json& json, const std::vector<std::string>& notes) {
  if (!notes.empty()) json["notes"] = notes;
}

Usage read_usage(base::ObjectReader& in) {
  Usage usage;
  const Json* json = in.optional_object("usage");
  if (!json) return usage;
  base::ObjectReader r(*json, in.place("usage"));
  usage.tokens_in = r.integer("tokens_in");
  usage.tokens_out = r.integer("tokens_out");
  usage.cost_usd = r.number("cost_usd");
  usage.tokens_cached = r.integer_or("tokens_cached", 0);
  usage.calls = static_cast<int>(r.integer_or("calls", 0));
  usage.estimated = r.boolean_or("estimated", false);
  if (auto finished = r.finish(); !finished) in.fault("usage", finished.error().what);
  return usage;
}

Json to_json(const CycleReport& report) {
  Json attempts = Json::array();
  for (const AttemptReport& attempt : report.attempts) {
    Json json{{"outcome", attempt.outcome}, {"summary", attempt.summary}};
    if (!attempt.program.empty()) json["program"] = attempt.program;
    put(json, "score", attempt.score);
    attempts.push_back(std::move(json));
  }
  Json json{{"node_id", report.node_id},
            {"cycle", report.cycle},
            {"how", report.how},
            {"attempts", std::move(attempts)}};
  if (!report.best_program.empty()) json["best_program"] = report.best_program;
  if (!report.why.empty()) json["why"] = report.why;
  put(json, "score", report.score);
  put(json, "predicted_gain", report.predicted_gain);
  put(json, "measured_gain", report.measured_gain);
  return json;
}

Json to_json(const Tried& tried) {
  Json json{{"hash", tried.hash}, {"program", kernel::to_json(tried.program)}};
  if (tried.outcome) json["outcome"] = kernel::to_json(*tried.outcome);
  return json;
}

}  // namespace

Usage& Usage::operator+=(const Usage& more) {
  tokens_in += more.tokens_in;
  tokens_out += more.tokens_out;
  tokens_cached += more.tokens_cached;
  cost_usd += more.cost_usd;
  calls += more.calls;
  estimated = estimated || more.estimated;
  return *this;
}

Json to_json(const PlanRequest& request, const tree::Tree& tree) {
  Json json{{"request", "plan"},
            {"kind", request.kind == PlanRequest::Kind::propose ? "propose" : "revise"},
            {"task", request.task},
            {"target", request.target},
            {"revision", request.revision},
            {"new_nodes", request.new_nodes},
            {"best_node", request.best_node},
            {"tried_since_best", request.tried_since_best}};
  if (request.cycle) json["cycle"] = to_json(*request.cycle);
  if (request.program) json["program"] = to_json(*request.program);
  json["world_model"] = tree::world_model_json(tree);
  return json;
}

Json to_json(const CodeRequest& request) {
  Json json{{"request", "code"},          {"task", request.task},
            {"target", request.target},   {"dialect", kernel::name(request.dialect)},
            {"node_id", request.node_id}, {"cycle_of_node", request.cycle_of_node},
            {"attempt", request.attempt}};
  if (request.action) json["action"] = tree::to_json(*request.action);
  if (!request.action_notes.empty()) json["action_notes"] = request.action_notes;
  if (request.parent) json["parent"] = to_json(*request.parent);
  Json inspirations = Json::array();
  for (const Tried& tried : request.inspirations) inspirations.push_back(to_json(tried));
  json["inspirations"] = std::move(inspirations);
  if (request.best) json["best"] = to_json(*request.best);
  if (request.last) json["last"] = to_json(*request.last);
  if (!request.last_refusal.empty()) json["last_refusal"] = request.last_refusal;
  return json;
}

Json to_json(const PlanReply& reply) {
  Json json = std::visit(Match{[](const tree::EditScript& script) {
                                 return Json{{"edits", tree::to_json(script)}};
                               },
                               [](const Nothing& nothing) {
                                 return Json{{"nothing", nothing.why}};
                               },
                               [](const Refused& refused) {
                                 return Json{{"refused", refused.why}};
                               },
                               [](const Lost& lost) {
                                 return Json{{"lost", lost.reason}};
                               }},
                         reply.what);
  put_usage(json, reply.usage);
  put_notes(json, reply.notes);
  return json;
}

Json to_json(const CodeReply& reply) {
  Json json = std::visit(Match{[](const kernel::Program& program) {
                                 return Json{{"program", program.hash()}};
                               },
                               [](const Exhausted& exhausted) {
                                 return Json{{"exhausted", exhausted.why}};
                               },
                               [](const Refused& refused) {
                                 return Json{{"refused", refused.why}};
                               },
                               [](const Lost& lost) {
                                 return Json{{"lost", lost.reason}};
                               }},
                         reply.what);
  put_usage(json, reply.usage);
  put_notes(json, reply.notes);
  return json;
}

base::Result<PlanReply> parse_plan_reply(const Json& json, std::string_view where) {
  base::ObjectReader in(json, std::string(where));
  PlanReply reply;
  if (in.has("edits")) {
    KS_TRY(reply.what, tree::parse_edit_script(in.object("edits"), in.place("edits")));
  } else if (in.has("nothing")) {
    reply.what = Nothing{in.text("nothing")};
  } else if (in.has("refused")) {
    reply.what = Refused{in.text("refused")};
  } else {
    reply.what = Lost{in.text("lost")};
  }
  reply.usage = read_usage(in);
  reply.notes = in.texts_or_empty("notes");
  KS_RETURN_IF_ERROR(in.finish());
  return reply;
}

base::Result<CodeReply> parse_code_reply(const Json& json, std::string_view where,
                                         const FindProgram& find) {
  base::ObjectReader in(json, std::string(where));
  CodeReply reply;
  if (in.has("program")) {
    const std::string hash = in.text("program");
    if (in.ok()) {
      KS_TRY(reply.what, find(hash));
    }
  } else if (in.has("exhausted")) {
    reply.what = Exhausted{in.text("exhausted")};
  } else if (in.has("refused")) {
    reply.what = Refused{in.text("refused")};
  } else {
    reply.what = Lost{in.text("lost")};
  }
  reply.usage = read_usage(in);
  reply.notes = in.texts_or_empty("notes");
  KS_RETURN_IF_ERROR(in.finish());
  return reply;
}

}  // namespace ksearch::engineer
