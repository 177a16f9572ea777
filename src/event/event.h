// What happens in a run, as values. Observers (journal, live view, plain lines) listen; nothing
// they do reaches back into the search.
//
//   engine ── tell() returns events ──> driver ──> Sink: journal | live view | plain lines
//   evaluator ── Progress ───────────────^
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kernel/outcome.h"

namespace ksearch::event {

/// Empty: no limit of that kind.
struct Limits {
  std::optional<std::int64_t> evaluations;
  std::optional<std::chrono::nanoseconds> wall;
  std::optional<std::int64_t> tokens;
  std::optional<double> cost_usd;
};

struct Spent {
  std::int64_t evaluations = 0;
  std::chrono::nanoseconds wall{0};
  std::int64_t tokens = 0;
  double cost_usd = 0;
  std::int64_t calls = 0;          ///< questions to a model, a program or a person
  bool tokens_estimated = false;   ///< some of the tokens
  std::int64_t tokens_out = 0;     ///< of the tokens, those of answers
  std::int64_t tokens_cached = 0;  ///< of the tokens, those read from a provider's cache
};

struct RunStarted {
  std::string task, target, device, engineer, strategy;
  std::uint64_t seed = 0;
  Limits limits;
};

struct NodeInserted {
  std::string node_id, parent_id, title;
  int difficulty = 3;
  double score = 0;
  double rating = 0;
  std::optional<double> expected;  ///< factor against the baseline
};
struct NodeUpdated {
  std::string node_id;
  std::vector<std::string> fields;
  int difficulty = 3;
  double score = 0;
  double rating = 0;
  std::optional<double> expected;
  std::string by;  ///< "planner", "rule", "person"
};
struct NodeClosed {
  std::string node_id, program;
  std::optional<double> score;                          ///< baseline / program; none for Verified
  std::optional<double> predicted_gain, measured_gain;  ///< over the parent
};
struct NodePruned {
  std::string node_id, why;
};
struct EditRefused {
  std::size_t index = 0;
  std::string op, label, why;
};

struct CycleStarted {
  int cycle = 0;  ///< from 1
  std::string node_id, parent_id, title;
};
struct CycleEnded {
  int cycle = 0;
  std::string node_id;
  std::string how;  ///< "exhausted", "stagnated", "not_better", "budget", "stopped", "run ended"
  int attempts = 0;
  std::string best_program;  ///< or empty: it failed
  std::optional<double> score;
};

/// A request may be worked on now. `kind`: "plan", "code", "evaluate", "certify".
struct Asked {
  std::uint64_t id = 0;
  std::string kind;
  std::string node_id;  ///< or empty
  int attempt = 0;      ///< of code and evaluate
  std::string program;  ///< of evaluate and certify
  std::string what;     ///< "propose", "revise", the action's title
};
struct Answered {
  std::uint64_t id = 0;
  std::string kind;
  std::string answer;  ///< "edits", "nothing", "program", "exhausted", "refused", "lost", ...
  std::string what;    ///< the reason, the program's hash, "3 operations"
  std::int64_t tokens = 0;
  double cost_usd = 0;
};
/// From the driver, while an evaluation or certification runs. Not in the journal.
struct StageProgress {
  std::uint64_t id = 0;
  std::string node_id;
  std::string what;  ///< "compile", "tiny 3/12", "timing f32_causal_d64"
};
struct Evaluated {
  std::uint64_t id = 0;
  std::string node_id, program;
  int attempt = 0;
  kernel::Outcome outcome;
};
struct BestImproved {
  std::string node_id, program;
  std::optional<double> score;
  std::optional<kernel::Ratio> naive, expert;
  std::string expert_name;  ///< the experts it was measured against: "torch", "torch, onnxruntime"
  bool modelled = false;
};
struct BudgetSpent {
  Spent spent;
  Limits limits;
};
struct Note {
  std::string text;
};
struct Certified {
  std::string node_id, program;
  int rank = 1;  ///< 1: the best program; 2: the next best, ...
  bool passed = false;
  std::string summary;
};
struct RunEnded {
  std::string status;        ///< "passed", "nothing", "stopped"
  std::string why;           ///< "budget: evaluations", "frontier and planner exhausted", ...
  std::string best_program;  ///< certified, or the best without a certificate; or empty
  std::string certificate;   ///< "passed", "failed", "none"
};

using What = std::variant<RunStarted, NodeInserted, NodeUpdated, NodeClosed, NodePruned,
                          EditRefused, CycleStarted, CycleEnded, Asked, Answered, StageProgress,
                          Evaluated, BestImproved, BudgetSpent, Note, Certified, RunEnded>;

struct Event {
  std::chrono::nanoseconds at{0};  ///< time of the run, resumptions without their gaps
  What what;
};

/// "run_started", "node_inserted", ...
std::string_view name(const Event& event);
/// {"event": NAME, "at": seconds, ...}
base::Json to_json(const Event& event);
/// One line for a person; empty for events that only views need.
std::string summary(const Event& event);

base::Json to_json(const Limits& limits);
base::Result<Limits> parse_limits(const base::Json& json, std::string_view where);
base::Json to_json(const Spent& spent);

/// Called on the driver's thread, in order. Must not throw and must not wait.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on(const Event& event) = 0;
};

/// Hands each event to several sinks, in order.
class Fanout final : public Sink {
 public:
  explicit Fanout(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {}
  void on(const Event& event) override {
    for (Sink* sink : sinks_) sink->on(event);
  }

 private:
  std::vector<Sink*> sinks_;  // borrowed
};

/// Keeps what it hears, for tests.
class Collector final : public Sink {
 public:
  void on(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

}  // namespace ksearch::event
