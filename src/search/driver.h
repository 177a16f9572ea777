// Drivers: what sits around the engine and does the work it asks for.
//
//   one at a time:  requests().front() ──> planner | coder | evaluate | certify ──> record ──> tell
//   replay:         recorded told values ──> tell
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engineer/engineer.h"
#include "event/event.h"
#include "search/engine.h"

namespace ksearch::search {

/// Who answers. Functions are called on the driver's thread.
struct Hands {
  engineer::Planner* planner = nullptr;  ///< borrowed
  engineer::Coder* coder = nullptr;      ///< borrowed
  std::function<kernel::EvaluateReply(const evaluate::EvaluateRequest&, const evaluate::Progress&)>
      evaluate;
  std::function<CertifyReply(const CertifyRequest&, const evaluate::Progress&)> certify;
};

/// Keeps what was told before the engine hears it, and the events that came of it.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual base::Result<void> told(const Told& told) = 0;
  virtual base::Result<void> events(std::span<const event::Event> events, const Engine& engine) = 0;
};

struct DriverOptions {
  const base::Clock* clock = nullptr;   ///< required
  std::chrono::nanoseconds already{0};  ///< run time before a resumption
  Recorder* recorder = nullptr;         ///< null: nothing is kept
  event::Sink* sink = nullptr;          ///< null: nobody listens
  /// Looked at between requests and after each answer: a reason to stop, or nothing.
  std::function<std::optional<Stop>()> stop_asked;
  /// Looked at at the same places: true leaves the loop with nothing told. The engine has not
  /// ended, and what was recorded is where a resumption goes on. Null: never.
  std::function<bool()> leave;
  /// Waits before a lost request is asked again; null: at once.
  std::function<void(int times_lost)> pause;
};

/// Tells `start` if the engine is fresh, then answers requests, oldest first, until the engine has
/// ended or `leave` says so. An error is the recorder's: the journal cannot be written.
base::Result<void> run_one_at_a_time(Engine& engine, const Started& start, const Hands& hands,
                                     const DriverOptions& options);

/// Folds told values into a fresh engine. `sink` hears what happened, if there is one.
base::Result<Engine> replay(const Config& config, std::span<const Told> told,
                            event::Sink* sink = nullptr);

}  // namespace ksearch::search
