// The whole state as JSON, to compare engines with.
#include "search/engine_state.h"
#include "tree/world_model.h"

namespace ksearch::search {
namespace {

using base::Json;

Json to_json(const Cycle& cycle) {
  return {{"node_id", cycle.report.node_id},          {"cycle", cycle.report.cycle},
          {"step", static_cast<int>(cycle.step)},     {"request", cycle.request},
          {"attempts", cycle.report.attempts.size()}, {"best", cycle.report.best_program},
          {"since_best", cycle.since_best},           {"not_better", cycle.not_better},
          {"beats_parent", cycle.beats_parent},       {"last", cycle.last_program},
          {"last_refusal", cycle.last_refusal}};
}

}  // namespace

Json Engine::state() const {
  const State& s = *state_;
  Json json{{"config", to_json(s.config)},
            {"phase", static_cast<int>(s.phase)},
            {"spent", event::to_json(s.spent)},
            {"next_id", s.next_id},
            {"cycles_started", s.cycles_started},
            {"cycles_ended", s.cycles_ended},
            {"failed_cycles", s.counts.failed_cycles},
            {"outcomes", s.counts.outcomes},
            {"barren", s.barren},
            {"proposed_at", s.proposed_at},
            {"plans_refused", s.plans_refused},
            {"best", s.best},
            {"winner", s.winner},
            {"status", s.status},
            {"end_reason", s.end_reason},
            {"lost_out", s.lost_out}};
  for (const Request& request : s.requests) {
    json["requests"].push_back(search::to_json(request, s.tree));
    const auto lost = s.lost.find(request.id);
    json["requests"].back()["lost"] = lost == s.lost.end() ? 0 : lost->second;
  }
  for (const Cycle& cycle : s.cycles) json["cycles"].push_back(to_json(cycle));
  for (const ProgramRecord& record : s.programs) {
    json["programs"].push_back(
        {{"hash", record.hash},
         {"parent", record.parent},
         {"node_id", record.node_id},
         {"cycle", record.cycle},
         {"attempt", record.attempt},
         {"outcome", record.outcome ? kernel::to_json(*record.outcome) : Json(nullptr)}});
  }
  for (const CertificateRecord& record : s.certificates) {
    json["certificates"].push_back(
        {{"program", record.program},
         {"rank", record.rank},
         {"certificate",
          record.certificate ? evaluate::to_json(*record.certificate) : Json(nullptr)}});
  }
  json["revision"] = s.tree.revision();
  json["world_model"] = tree::world_model_json(s.tree);
  return json;
}

}  // namespace ksearch::search
