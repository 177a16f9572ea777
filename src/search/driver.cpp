#include "search/driver.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/match.h"

namespace ksearch::search {
namespace {

using base::Match;

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

class OneAtATime {
 public:
  OneAtATime(Engine& engine, const Hands& hands, const DriverOptions& options)
      : engine_(engine), hands_(hands), options_(options), began_(options.clock->now()) {}

  base::Result<void> run(const Started& start) {
    if (engine_.phase() == Phase::fresh) KS_RETURN_IF_ERROR(tell(start));
    while (!engine_.ended()) {
      if (options_.leave && options_.leave()) return {};
      if (const auto stop = stop_asked()) {
        KS_RETURN_IF_ERROR(tell(*stop));
        continue;
      }
      KS_CHECK(!engine_.requests().empty(), "an engine that has not ended asks for something");
      // A copy: the engine forgets the request when it hears the answer.
      const Request request = engine_.requests().front();
      Answered answered = answer(request);
      const bool lost = is_lost(answered);
      // Who waits for an answer gives up when we leave: no loss, the request stays open.
      if (lost && options_.leave && options_.leave()) return {};
      KS_RETURN_IF_ERROR(tell(std::move(answered)));
      if (lost && options_.pause && !engine_.ended()) options_.pause(request.asked);
    }
    return {};
  }

 private:
  std::optional<Stop> stop_asked() {
    if (!options_.stop_asked) return std::nullopt;
    auto stop = options_.stop_asked();
    if (!stop) return std::nullopt;
    // Told once; again only to give up on the certificate as well.
    if (stopped_ && (stop->certify || stopped_->certify == stop->certify)) return std::nullopt;
    stopped_ = stop;
    return stop;
  }

  Answered answer(const Request& request) {
    const auto progress_of = [&](const std::string& node_id) {
      return [this, id = request.id, node_id](std::string_view what) {
        if (!options_.sink) return;
        options_.sink->on({now(), event::StageProgress{id, node_id, std::string(what)}});
      };
    };
    Answered answered{request.id, engineer::PlanReply{}};
    std::visit(Match{[&](engineer::PlanRequest plan) {
                       plan.asked = request.asked;
                       answered.reply = hands_.planner->plan(plan, engine_.tree());
                     },
                     [&](engineer::CodeRequest code) {
                       code.asked = request.asked;
                       answered.reply = hands_.coder->code(code);
                     },
                     [&](const EvaluateRequest& evaluate) {
                       answered.reply =
                           hands_.evaluate(evaluate.job, progress_of(evaluate.node_id));
                     },
                     [&](const CertifyRequest& certify) {
                       answered.reply = hands_.certify(certify, progress_of(certify.node_id));
                     }},
               request.what);
    return answered;
  }

  std::chrono::nanoseconds now() const {
    return options_.already + (options_.clock->now() - began_);
  }

  base::Result<void> tell(decltype(Told::what) what) {
    const Told told{std::max(now(), engine_.spent().wall), std::move(what)};
    if (options_.recorder) KS_RETURN_IF_ERROR(options_.recorder->told(told));
    const std::vector<event::Event> events = engine_.tell(told);
    if (options_.recorder) KS_RETURN_IF_ERROR(options_.recorder->events(events, engine_));
    if (options_.sink) {
      for (const event::Event& event : events) options_.sink->on(event);
    }
    return {};
  }

  Engine& engine_;
  const Hands& hands_;
  const DriverOptions& options_;
  const std::chrono::nanoseconds began_;
  std::optional<Stop> stopped_;
};

}  // namespace

base::Result<void> run_one_at_a_time(Engine& engine, const Started& start, const Hands& hands,
                                     const DriverOptions& options) {
  KS_CHECK(options.clock, "a driver needs a clock");
  return OneAtATime(engine, hands, options).run(start);
}

base::Result<Engine> replay(const Config& config, std::span<const Told> told, event::Sink* sink) {
  KS_TRY(Engine engine, Engine::make(config));
  for (const Told& line : told) {
    for (const event::Event& event : engine.tell(line)) {
      if (sink) sink->on(event);
    }
  }
  return engine;
}

}  // namespace ksearch::search
