// Drivers: what sits around the engine and does the work it asks for.
//
//   one at a time:  requests().front() ──> planner | coder | evaluate | certify ──> record ──> tell
//   overlapped:     all of requests(): planner and coder on threads, evaluate here ──> record ──>
//   tell replay:         recorded told values ──> tell
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

/// Who answers. Functions are called on the driver's thread; run_overlapped calls planner and coder
/// from several at a time.
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
  /// Waits before a lost request is asked again; null: at once. Of run_overlapped: any thread.
  std::function<void(int times_lost)> pause;
  /// Of run_overlapped: nobody waits for planner and coder any more, they may give up. Called more
  /// than once.
  std::function<void()> abandon;
};

/// Tells `start` if the engine is fresh, then answers requests, oldest first, until the engine has
/// ended or `leave` says so. An error is the recorder's: the journal cannot be written.
base::Result<void> run_one_at_a_time(Engine& engine, const Started& start, const Hands& hands,
                                     const DriverOptions& options);

/// The same with all open requests under way at once: as many as the config's lanes give. Answers
/// are told in the order in which they come; the journal has that order, so that a resumption is as
/// exact. Leaving waits for whoever thinks, and tells what came whole.
base::Result<void> run_overlapped(Engine& engine, const Started& start, const Hands& hands,
                                  const DriverOptions& options);

/// Folds told values into a fresh engine. `sink` hears what happened, if there is one.
base::Result<Engine> replay(const Config& config, std::span<const Told> told,
                            event::Sink* sink = nullptr);

}  // namespace ksearch::search
