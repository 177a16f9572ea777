// What the engine asks for and what it is told: values that serialise to JSON, so that a run is a
// list of told lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "engineer/engineer.h"
#include "evaluate/certificate.h"
#include "evaluate/evaluator.h"
#include "kernel/outcome.h"

namespace ksearch::search {

using RequestId = std::uint64_t;

/// Time a program. `job.time_left` is what remains of the run's wall time (soft: it ends with the
/// evaluation that is running).
struct EvaluateRequest {
  std::string node_id;
  int attempt = 1;
  std::string program;  ///< hash
  evaluate::EvaluateRequest job;
};

/// Put the best program to the proof; rank 2 and on where better ones failed.
struct CertifyRequest {
  std::string node_id;
  std::string program;  ///< hash
  int rank = 1;
  kernel::Program code;
  kernel::Select select;
};
using CertifyReply = std::variant<evaluate::Certificate, kernel::Lost>;

struct Request {
  RequestId id = 0;
  std::variant<engineer::PlanRequest, engineer::CodeRequest, EvaluateRequest, CertifyRequest> what;
  int asked = 1;  ///< 2 and on after Lost or an expired lease
};
/// "plan", "code", "evaluate", "certify".
std::string_view kind(const Request& request);

/// The first thing told: where the search starts.
struct Started {
  base::Json world_model;                       ///< as world_model.json; null: a lone root
  std::optional<kernel::Program> root_program;  ///< the dialect's naive program
  std::optional<kernel::Outcome> root_outcome;  ///< of the session's start: the root's score
};
/// An answer to a request. A second one to the same request is dropped and noted.
struct Answered {
  RequestId id = 0;
  std::variant<engineer::PlanReply, engineer::CodeReply, kernel::EvaluateReply, CertifyReply> reply;
};
/// Time passed and nothing else: budgets are looked at.
struct Elapsed {};
/// Whoever took the request did not answer in time: it may be asked again.
struct Expired {
  RequestId id = 0;
};
/// Stop asked (Ctrl-C, the user): open requests are dropped, what is best gets certified if
/// `certify`.
struct Stop {
  std::string why;
  bool certify = true;
};
/// A person edits the tree.
struct Edited {
  tree::EditScript script;
};
/// A run that ended because a request was lost too often goes on searching.
struct Reopened {};

struct Told {
  std::chrono::nanoseconds at{0};  ///< time of the run so far, never smaller than the last one
  std::variant<Started, Answered, Elapsed, Expired, Stop, Edited, Reopened> what;
};

/// Programs go by hash; whoever writes the line keeps them (store) before it.
base::Json to_json(const Told& told);
base::Result<Told> parse_told(const base::Json& json, std::string_view where,
                              const engineer::FindProgram& find);
/// Programs that the line names, to be stored before it.
std::vector<const kernel::Program*> programs_in(const Told& told);

/// For an exchange with people and agents. `tree` goes with plan requests.
base::Json to_json(const Request& request, const tree::Tree& tree);

}  // namespace ksearch::search
