// The search as an ask/tell state machine: no threads, no clock, no I/O. `requests()` is what may
// be done now; `tell` moves the state and returns what happened. The state is a fold of what was
// told: the same config and the same told values give the same tree, best, budget and requests.
//
//   Engine engine(config);
//   engine.tell({at, Started{...}});
//   while (!engine.ended()) engine.tell({at, Answered{id, reply to engine.requests().front()}});
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/event.h"
#include "search/request.h"
#include "search/strategy.h"
#include "tree/tree.h"

namespace ksearch::search {

struct Config {
  std::string task, target;
  kernel::Dialect dialect = kernel::Dialect::cpp;
  std::string device, engineer;  ///< names, for events
  std::string strategy = "ksearch";
  std::uint64_t seed = 1;
  event::Limits limits;
  int stagnation =
      5;  ///< attempts: since the cycle's best improved; with nothing better than the parent
  int difficulty_limit = 4;  ///< 1 to 5
  int frontier_low = 3;      ///< fewer frontier nodes: the planner is asked
  int new_nodes = 3;         ///< cap for one update
  int first_nodes = 0;       ///< cap for the update of a lone root, where it is more
  int lanes = 1;             ///< cycles at the same time
  int inspirations = 2;      ///< programs shown beside the parent's
  int give_up_after = 2;     ///< failed cycles of a node
  int lost_limit = 5;        ///< times one request may be lost in a row before the run stops
  int barren_limit = 10;     ///< cycles in a row without an evaluation before the run ends
  double roofline_stop =
      0;  ///< end when the best reaches this fraction on every workload; 0: never
};
base::Json to_json(const Config& config);
base::Result<Config> parse_config(const base::Json& json, std::string_view where);
/// An error that names what is out of range.
base::Result<void> check_config(const Config& config);

/// A program that was evaluated, or attached to the root.
struct ProgramRecord {
  kernel::Program program;
  std::string hash;
  std::string parent;  ///< hash of the program it was written from, or empty
  std::string node_id;
  int cycle = 0, attempt = 0;  ///< 0: the root's
  std::optional<kernel::Outcome> outcome;
};

/// What certification found of one program.
struct CertificateRecord {
  std::string program, node_id;
  int rank = 1;
  std::optional<evaluate::Certificate> certificate;  ///< none: it was lost too often
};

/// Counted over the whole run.
struct Counts {
  int cycles = 0;
  int failed_cycles = 0;                ///< without a passing program
  std::map<std::string, int> outcomes;  ///< attempts by kind: "Measured", "Duplicate", ...
};

enum class Phase { fresh, searching, certifying, ended };

class Engine {
 public:
  /// An error for a config out of range.
  static base::Result<Engine> make(Config config);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Moves the state; returns what happened, in order. Never fails: what makes no sense (an unknown
  /// request, a second answer, anything after the end) is dropped with a Note.
  std::vector<event::Event> tell(const Told& told);

  /// Open requests, oldest first. Valid until the next tell.
  const std::deque<Request>& requests() const;
  const Request* request(RequestId id) const;

  Phase phase() const;
  bool ended() const { return phase() == Phase::ended; }
  const Config& config() const;
  const tree::Tree& tree() const;
  const event::Spent& spent() const;
  const Counts& counts() const;
  /// Every evaluated program in order; the root's first, if it has one.
  const std::deque<ProgramRecord>& programs() const;
  const ProgramRecord* program(const std::string& hash) const;
  /// The best that passed, or null; the root's program does not count.
  const ProgramRecord* best() const;
  /// The certified winner, or null.
  const ProgramRecord* winner() const;
  const std::vector<CertificateRecord>& certificates() const;
  /// "passed", "nothing", "stopped"; empty until the end.
  const std::string& status() const;
  const std::string& end_reason() const;
  /// It ended because a request was lost too often: a Reopened takes it up again.
  bool can_reopen() const;

  /// Everything above as JSON: two engines with equal states give equal text.
  base::Json state() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ksearch::search
