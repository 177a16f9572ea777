#include "search/driver_base.h"

#include <algorithm>
#include <utility>

#include "base/match.h"

namespace ksearch::search {

using base::Match;

bool is_thought(const Request& request) {
  return std::holds_alternative<engineer::PlanRequest>(request.what) ||
         std::holds_alternative<engineer::CodeRequest>(request.what);
}

bool is_lost(const Answered& answered) {
  return std::visit(
      Match{[](const engineer::PlanReply& r) {
              return std::holds_alternative<engineer::Lost>(r.what);
            },
            [](const engineer::CodeReply& r) {
              return std::holds_alternative<engineer::Lost>(r.what);
            },
            [](const kernel::EvaluateReply& r) { return std::holds_alternative<kernel::Lost>(r); },
            [](const CertifyReply& r) { return std::holds_alternative<kernel::Lost>(r); }},
      answered.reply);
}

std::optional<Stop> DriverBase::stop_asked() {
  if (!options_.stop_asked) return std::nullopt;
  auto stop = options_.stop_asked();
  if (!stop) return std::nullopt;
  // Told once; again only to give up on the certificate as well.
  if (stopped_ && (stop->certify || stopped_->certify == stop->certify)) return std::nullopt;
  stopped_ = stop;
  return stop;
}

Answered think(const Hands& hands, const Request& request, const tree::Tree& tree) {
  if (const auto* asked = std::get_if<engineer::PlanRequest>(&request.what)) {
    engineer::PlanRequest plan = *asked;
    plan.asked = request.asked;
    return {request.id, hands.planner->plan(plan, tree)};
  }
  engineer::CodeRequest code = std::get<engineer::CodeRequest>(request.what);
  code.asked = request.asked;
  return {request.id, hands.coder->code(code)};
}

Answered DriverBase::measure(const Request& request) const {
  const auto progress_of = [&](const std::string& node_id) {
    return [this, id = request.id, node_id](std::string_view what) {
      if (!options_.sink) return;
      options_.sink->on({now(), event::StageProgress{id, node_id, std::string(what)}});
    };
  };
  if (const auto* job = std::get_if<EvaluateRequest>(&request.what))
    return {request.id, hands_.evaluate(job->job, progress_of(job->node_id))};
  const auto& certify = std::get<CertifyRequest>(request.what);
  return {request.id, hands_.certify(certify, progress_of(certify.node_id))};
}

base::Result<void> DriverBase::tell(decltype(Told::what) what) {
  const Told told{std::max(now(), engine_.spent().wall), std::move(what)};
  if (options_.recorder) KS_RETURN_IF_ERROR(options_.recorder->told(told));
  const std::vector<event::Event> events = engine_.tell(told);
  if (options_.recorder) KS_RETURN_IF_ERROR(options_.recorder->events(events, engine_));
  if (options_.sink) {
    for (const event::Event& event : events) options_.sink->on(event);
  }
  return {};
}

}  // namespace ksearch::search
