// What every driver does: answers one request, tells the engine and the recorder, looks for a stop.
#pragma once

#include <string_view>

#include "search/driver.h"

namespace ksearch::search {

/// A request for planner or coder: they think, the other requests measure.
bool is_thought(const Request& request);
bool is_lost(const Answered& answered);
/// The answer of planner or coder; touches nothing but them.
Answered think(const Hands& hands, const Request& request, const tree::Tree& tree);

class DriverBase {
 public:
  DriverBase(Engine& engine, const Hands& hands, const DriverOptions& options)
      : engine_(engine), hands_(hands), options_(options), began_(options.clock->now()) {}

 protected:
  std::optional<Stop> stop_asked();
  /// Of evaluate and certify.
  Answered measure(const Request& request) const;
  std::chrono::nanoseconds now() const {
    return options_.already + (options_.clock->now() - began_);
  }
  base::Result<void> tell(decltype(Told::what) what);
  bool left() const { return options_.leave && options_.leave(); }

  Engine& engine_;
  const Hands& hands_;
  const DriverOptions& options_;

 private:
  const std::chrono::nanoseconds began_;
  std::optional<Stop> stopped_;
};

}  // namespace ksearch::search
