#include "search/driver.h"

#include <utility>

#include "base/check.h"
#include "search/driver_base.h"

namespace ksearch::search {
namespace {

class OneAtATime : DriverBase {
 public:
  using DriverBase::DriverBase;

  base::Result<void> run(const Started& start) {
    if (engine_.phase() == Phase::fresh) KS_RETURN_IF_ERROR(tell(start));
    while (!engine_.ended()) {
      if (left()) return {};
      if (const auto stop = stop_asked()) {
        KS_RETURN_IF_ERROR(tell(*stop));
        continue;
      }
      KS_CHECK(!engine_.requests().empty(), "an engine that has not ended asks for something");
      // A copy: the engine forgets the request when it hears the answer.
      const Request request = engine_.requests().front();
      Answered answered =
          is_thought(request) ? think(hands_, request, engine_.tree()) : measure(request);
      const bool lost = is_lost(answered);
      // Who waits for an answer gives up when we leave: no loss, the request stays open.
      if (lost && left()) return {};
      KS_RETURN_IF_ERROR(tell(std::move(answered)));
      if (lost && options_.pause && !engine_.ended()) options_.pause(request.asked);
    }
    return {};
  }
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
