// The engine's inside: its state, and the moves on it. Internal to `search`.
//
//   tell ── engine.cpp        what was told, to whom it belongs
//     ├── engine_plan.cpp     planner: propose, revise, edits
//     ├── engine_cycle.cpp    a cycle: code, evaluate, counters, closing
//     └── engine_end.cpp      budgets, the end, certification
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/engine.h"

namespace ksearch::search {

/// A node being worked on.
struct Cycle {
  enum class Step { coding, evaluating, ended, revising };
  engineer::CycleReport report;  ///< node, number, attempts so far
  Step step = Step::coding;
  RequestId request = 0;       ///< the one it waits for
  std::string parent_program;  ///< hash, or empty
  int since_best = 0;          ///< attempts since this cycle's best improved
  int not_better = 0;          ///< attempts with nothing better than the parent
  bool beats_parent = false;
  bool evaluated = false;                       ///< anything at all
  std::string last_program;                     ///< hash of the last attempt that was a program
  std::optional<kernel::Outcome> last_outcome;  ///< of that attempt; a duplicate's is its own
  std::string last_refusal;
};

struct Engine::State {
  Config config;
  std::unique_ptr<Strategy> strategy;
  tree::Tree tree;
  Phase phase = Phase::fresh;
  event::Spent spent;
  std::deque<Request> requests;
  RequestId next_id = 1;
  std::map<RequestId, int> lost;  ///< times in a row, by open request
  std::vector<Cycle> cycles;      ///< at most config.lanes
  int cycles_started = 0;
  int cycles_ended = 0;
  Counts counts;
  int barren = 0;           ///< cycles in a row without an evaluation
  RequestId proposing = 0;  ///< open propose request, or 0
  int proposed_at = -1;     ///< cycles_ended when the planner was last asked to propose
  int plans_refused = 0;    ///< proposals in a row that could not be used
  std::deque<ProgramRecord> programs;
  std::unordered_map<std::string, std::size_t> program_index;  ///< by hash
  std::unordered_map<std::string, std::string> normal_index;   ///< normal_hash -> hash
  std::string best;                                            ///< hash, or empty
  std::vector<CertificateRecord> certificates;
  std::vector<std::string> candidates;  ///< hashes to certify, best first
  std::string winner;
  std::optional<Stop> stop;
  bool lost_out = false;  ///< `stop` is because a request was lost too often
  std::string status, end_reason;
  std::vector<event::Event> events;  ///< of the tell in progress

  explicit State(Config c) : config(std::move(c)) {}

  // engine.cpp
  void emit(event::What what) { events.push_back({spent.wall, std::move(what)}); }
  void note(std::string text) { emit(event::Note{std::move(text)}); }
  RequestId ask(decltype(Request::what) what);
  void close_request(RequestId id);
  void on_started(const Started& started);
  void on_answered(const Answered& answered);
  void on_expired(const Expired& expired);
  void on_stop(const Stop& asked);
  /// True if the request stays open; counts what was lost.
  void on_lost(Request& request, const std::string& reason, const engineer::Usage& usage = {});
  void spend(const engineer::Usage& usage);
  void announce_answer(const Request& request, std::string answer, std::string what,
                       const engineer::Usage& usage = {});
  void advance();

  // engine_plan.cpp
  View view() const;
  std::string best_node() const;
  std::set<std::string, std::less<>> nodes_in_use() const;
  int tried_since_best() const;
  void ask_propose();
  void ask_revise(Cycle& cycle);
  void on_plan(Request request, const engineer::PlanReply& reply);
  void apply_edits(const tree::EditScript& script, std::uint64_t seen, int new_nodes,
                   const char* by);
  /// Starts what can be started; false where nothing more can.
  bool start_work();

  // engine_cycle.cpp
  void start_cycle(const tree::Node& node);
  Cycle* cycle_of(RequestId request);
  engineer::Tried tried(const ProgramRecord& record) const;
  const ProgramRecord* find_program(const std::string& hash) const;
  std::string program_of(const tree::Node& node) const;
  void ask_code(Cycle& cycle);
  void on_code(const Request& request, const engineer::CodeReply& reply);
  void on_program(Cycle& cycle, const kernel::Program& program);
  void on_outcome(const Request& request, const kernel::Outcome& outcome);
  void take_best(const ProgramRecord& record, const kernel::Outcome& outcome);
  std::optional<double> gain_over_parent(const Cycle& cycle, const kernel::Outcome& outcome) const;
  /// Counts an attempt; asks for the next one or ends the cycle.
  void finish_attempt(Cycle& cycle, engineer::AttemptReport attempt,
                      const kernel::Outcome* outcome);
  void end_cycle(Cycle& cycle, std::string how, bool blame);
  void attach_best(Cycle& cycle);

  // engine_end.cpp
  std::optional<std::string> reason_to_end() const;
  std::optional<std::chrono::nanoseconds> time_left() const;
  bool evaluations_left() const;
  void wind_down(const std::string& reason);
  void start_certifying();
  void certify_next();
  void on_certificate(const Request& request, const CertifyReply& reply);
  void finish(std::string status_text, std::string reason);
  void reopen();
};

}  // namespace ksearch::search
