// The two roles that think: a Planner grows and revises the tree, a Coder writes programs. Language
// model, catalog, person and agent are implementations; the search knows only these values.
//
//   engine ── PlanRequest ──> Planner ── EditScript | Nothing | Refused | Lost ──> engine
//          ── CodeRequest ──> Coder   ── Program | Exhausted | Refused | Lost ──> engine
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kernel/outcome.h"
#include "kernel/program.h"
#include "tree/edit.h"
#include "tree/tree.h"

namespace ksearch::engineer {

/// What an answer took; zero for engineers that cost nothing.
struct Usage {
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  double cost_usd = 0;
  int calls = 0;                   ///< questions asked, repeated ones and calls that failed too
  bool estimated = false;          ///< nobody counted some of the tokens: four characters are one
  std::int64_t tokens_cached = 0;  ///< of those in, read from a provider's cache
  Usage& operator+=(const Usage& more);
};

/// The reply could not be used: unreadable, empty, declined. It counts as an attempt.
struct Refused {
  std::string why;
};
/// No answer came: network, quota, a dead process. The request is asked again, no node is blamed.
using Lost = kernel::Lost;

/// One attempt of a cycle, for the planner.
struct AttemptReport {
  std::string program;  ///< hash; empty where none came
  std::string outcome;  ///< kind: "Measured", "WrongResult", ...
  std::string summary;  ///< one line
  std::optional<double> score;
};

/// What became of a cycle.
struct CycleReport {
  std::string node_id;
  int cycle = 0;
  std::string how;  ///< as event::CycleEnded
  std::vector<AttemptReport> attempts;
  std::string best_program;  ///< empty: it failed
  std::optional<double> score, predicted_gain, measured_gain;
  std::string why = {};  ///< of one that ended because the coder had nothing more
};

/// A program that was tried, with what became of it.
struct Tried {
  kernel::Program program;
  std::string hash;
  std::optional<kernel::Outcome> outcome;  ///< none for a naive program that was not measured
};

struct PlanRequest {
  enum class Kind {
    propose,  ///< the frontier runs low, or the best node has no open child
    revise,   ///< a cycle ended: learn from it
  };
  Kind kind = Kind::propose;
  std::uint64_t id = 0;  ///< of the search's request; the same after a resumption
  int asked = 1;         ///< 2 and on after a loss
  std::string task, target;
  std::uint64_t revision = 0;        ///< of the tree that goes with it
  int new_nodes = 3;                 ///< how many it may add
  std::string best_node;             ///< the node with the best program
  int tried_since_best = 0;          ///< programs that were tried after it, none better
  std::optional<CycleReport> cycle;  ///< of a revise
  /// Of a revise: the cycle's best program, else its last; of a propose: the best of the tree.
  std::optional<Tried> program;
};

struct Nothing {
  std::string why;  ///< may be empty
};
struct PlanReply {
  std::variant<tree::EditScript, Nothing, Refused, Lost> what;
  Usage usage = {};
  std::vector<std::string> notes = {};  ///< what was forgiven or cut, for the user
};

struct CodeRequest {
  std::uint64_t id = 0;  ///< of the search's request; the same after a resumption
  int asked = 1;         ///< 2 and on after a loss
  std::string task, target;
  kernel::Dialect dialect = kernel::Dialect::cpp;
  std::string node_id;
  int cycle_of_node = 1;  ///< 2: the node failed once before
  int attempt = 1;        ///< within this cycle
  std::optional<tree::Action> action;
  std::string action_notes;         ///< what the planner noted on its node
  std::optional<Tried> parent;      ///< none where the root has no program
  std::vector<Tried> inspirations;  ///< good programs elsewhere in the tree
  std::optional<Tried> best;        ///< of this cycle, if anything passed
  std::optional<Tried> last;        ///< the last attempt on this node, passed or not
  /// Why the last reply was no program, where `last` is older than it.
  std::string last_refusal;
};

struct Exhausted {
  std::string why;
};
struct CodeReply {
  std::variant<kernel::Program, Exhausted, Refused, Lost> what;
  Usage usage = {};
  std::vector<std::string> notes = {};
};

class Planner {
 public:
  virtual ~Planner() = default;
  /// "catalog", "llm:MODEL", ...
  virtual std::string name() const = 0;
  /// `tree` is the tree at `request.revision`. Same request and tree, same answer, for planners
  /// that compute it.
  virtual PlanReply plan(const PlanRequest& request, const tree::Tree& tree) = 0;
};

class Coder {
 public:
  virtual ~Coder() = default;
  virtual std::string name() const = 0;
  virtual CodeReply code(const CodeRequest& request) = 0;
};

/// Requests for files and wires; the plan request carries the tree.
base::Json to_json(const PlanRequest& request, const tree::Tree& tree);
base::Json to_json(const CodeRequest& request);

/// Replies in the journal's form: programs by hash, never by text. `find` gets a program by hash.
using FindProgram = std::function<base::Result<kernel::Program>(const std::string& hash)>;
base::Json to_json(const PlanReply& reply);
base::Json to_json(const CodeReply& reply);
base::Result<PlanReply> parse_plan_reply(const base::Json& json, std::string_view where);
base::Result<CodeReply> parse_code_reply(const base::Json& json, std::string_view where,
                                         const FindProgram& find);

}  // namespace ksearch::engineer
