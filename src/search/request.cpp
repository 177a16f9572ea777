#include "search/request.h"

#include <fmt/format.h>

#include "base/match.h"

namespace ksearch::search {
namespace {

using base::Json;
using base::Match;

Json started_json(const Started& started) {
  Json json = Json::object();
  if (!started.world_model.is_null()) json["world_model"] = started.world_model;
  if (started.root_program) json["root_program"] = started.root_program->hash();
  if (started.root_outcome) json["root_outcome"] = kernel::to_json(*started.root_outcome);
  return json;
}

base::Result<Started> parse_started(const Json& json, const std::string& where,
                                    const engineer::FindProgram& find) {
  base::ObjectReader in(json, where);
  Started started;
  if (in.has("world_model")) started.world_model = in.object("world_model");
  if (in.has("root_program")) {
    const std::string hash = in.text("root_program");
    if (in.ok()) {
      KS_TRY(started.root_program, find(hash));
    }
  }
  if (in.has("root_outcome")) {
    KS_TRY(started.root_outcome,
           kernel::parse_outcome(in.object("root_outcome"), in.place("root_outcome")));
  }
  KS_RETURN_IF_ERROR(in.finish());
  return started;
}

/// {"outcome": {...}} or {"lost": "why"}; the same for certificates.
base::Result<kernel::EvaluateReply> parse_evaluated(const Json& json, const std::string& where) {
  base::ObjectReader in(json, where);
  kernel::EvaluateReply reply;
  if (in.has("outcome")) {
    KS_TRY(reply, kernel::parse_outcome(in.object("outcome"), in.place("outcome")));
  } else {
    reply = kernel::Lost{in.text("lost")};
  }
  KS_RETURN_IF_ERROR(in.finish());
  return reply;
}

base::Result<CertifyReply> parse_certified(const Json& json, const std::string& where) {
  base::ObjectReader in(json, where);
  CertifyReply reply;
  if (in.has("certificate")) {
    KS_TRY(reply, evaluate::parse_certificate(in.object("certificate"), in.place("certificate")));
  } else {
    reply = kernel::Lost{in.text("lost")};
  }
  KS_RETURN_IF_ERROR(in.finish());
  return reply;
}

void put_reply(Json& json, const Answered& answered) {
  json["answers"] = answered.id;
  std::visit(
      Match{[&](const engineer::PlanReply& reply) { json["plan"] = engineer::to_json(reply); },
            [&](const engineer::CodeReply& reply) { json["code"] = engineer::to_json(reply); },
            [&](const kernel::EvaluateReply& reply) {
              const auto* outcome = std::get_if<kernel::Outcome>(&reply);
              json["evaluate"] = outcome ? Json{{"outcome", kernel::to_json(*outcome)}}
                                         : Json{{"lost", std::get<kernel::Lost>(reply).reason}};
            },
            [&](const CertifyReply& reply) {
              const auto* certificate = std::get_if<evaluate::Certificate>(&reply);
              json["certify"] = certificate ? Json{{"certificate", evaluate::to_json(*certificate)}}
                                            : Json{{"lost", std::get<kernel::Lost>(reply).reason}};
            }},
      answered.reply);
}

base::Result<Answered> parse_answered(base::ObjectReader& in, const engineer::FindProgram& find) {
  Answered answered;
  answered.id = static_cast<RequestId>(in.integer("answers"));
  if (in.has("plan")) {
    KS_TRY(answered.reply, engineer::parse_plan_reply(in.object("plan"), in.place("plan")));
  } else if (in.has("code")) {
    KS_TRY(answered.reply, engineer::parse_code_reply(in.object("code"), in.place("code"), find));
  } else if (in.has("evaluate")) {
    KS_TRY(answered.reply, parse_evaluated(in.object("evaluate"), in.place("evaluate")));
  } else {
    KS_TRY(answered.reply, parse_certified(in.object("certify"), in.place("certify")));
  }
  return answered;
}

base::Result<Stop> parse_stop(const Json& json, const std::string& where) {
  base::ObjectReader in(json, where);
  Stop stop{in.text("why"), in.boolean_or("certify", true)};
  KS_RETURN_IF_ERROR(in.finish());
  return stop;
}

}  // namespace

std::string_view kind(const Request& request) {
  return std::visit(Match{[](const engineer::PlanRequest&) { return "plan"; },
                          [](const engineer::CodeRequest&) { return "code"; },
                          [](const EvaluateRequest&) { return "evaluate"; },
                          [](const CertifyRequest&) { return "certify"; }},
                    request.what);
}

Json to_json(const Told& told) {
  Json json{{"at_ns", told.at.count()}};
  std::visit(Match{[&](const Started& started) { json["start"] = started_json(started); },
                   [&](const Answered& answered) { put_reply(json, answered); },
                   [&](const Elapsed&) { json["elapsed"] = true; },
                   [&](const Expired& expired) { json["expired"] = expired.id; },
                   [&](const Stop& stop) {
                     json["stop"] = {{"why", stop.why}, {"certify", stop.certify}};
                   },
                   [&](const Reopened&) { json["reopened"] = true; },
                   [&](const Edited& edited) { json["edit"] = tree::to_json(edited.script); }},
             told.what);
  return json;
}

base::Result<Told> parse_told(const Json& json, std::string_view where,
                              const engineer::FindProgram& find) {
  base::ObjectReader in(json, std::string(where));
  Told told{std::chrono::nanoseconds(in.integer("at_ns")), Elapsed{}};
  if (in.has("start")) {
    KS_TRY(told.what, parse_started(in.object("start"), in.place("start"), find));
  } else if (in.has("answers")) {
    KS_TRY(told.what, parse_answered(in, find));
  } else if (in.has("expired")) {
    told.what = Expired{static_cast<RequestId>(in.integer("expired"))};
  } else if (in.has("stop")) {
    KS_TRY(told.what, parse_stop(in.object("stop"), in.place("stop")));
  } else if (in.has("edit")) {
    Edited edited;
    KS_TRY(edited.script, tree::parse_edit_script(in.object("edit"), in.place("edit")));
    told.what = std::move(edited);
  } else if (in.has("reopened")) {
    in.boolean_or("reopened", true);
    told.what = Reopened{};
  } else {
    in.boolean_or("elapsed", true);
  }
  KS_RETURN_IF_ERROR(in.finish());
  return told;
}

std::vector<const kernel::Program*> programs_in(const Told& told) {
  std::vector<const kernel::Program*> programs;
  if (const auto* started = std::get_if<Started>(&told.what)) {
    if (started->root_program) programs.push_back(&*started->root_program);
  } else if (const auto* answered = std::get_if<Answered>(&told.what)) {
    if (const auto* reply = std::get_if<engineer::CodeReply>(&answered->reply)) {
      if (const auto* program = std::get_if<kernel::Program>(&reply->what)) {
        programs.push_back(program);
      }
    }
  }
  return programs;
}

Json to_json(const Request& request, const tree::Tree& tree) {
  Json json = std::visit(
      Match{[&](const engineer::PlanRequest& plan) { return engineer::to_json(plan, tree); },
            [](const engineer::CodeRequest& code) { return engineer::to_json(code); },
            [](const EvaluateRequest& evaluate) {
              Json inner{{"request", "evaluate"},
                         {"node_id", evaluate.node_id},
                         {"attempt", evaluate.attempt},
                         {"hash", evaluate.program},
                         {"program", kernel::to_json(evaluate.job.program)}};
              if (evaluate.job.parent) inner["parent"] = kernel::to_json(*evaluate.job.parent);
              inner["parent_select"] = kernel::to_json(evaluate.job.parent_select);
              if (evaluate.job.time_left) {
                inner["time_left_ns"] = evaluate.job.time_left->count();
              }
              return inner;
            },
            [](const CertifyRequest& certify) {
              return Json{{"request", "certify"},
                          {"node_id", certify.node_id},
                          {"rank", certify.rank},
                          {"hash", certify.program},
                          {"program", kernel::to_json(certify.code)},
                          {"select", kernel::to_json(certify.select)}};
            }},
      request.what);
  json["id"] = request.id;
  json["asked"] = request.asked;
  return json;
}

}  // namespace ksearch::search
