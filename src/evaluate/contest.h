// Times several workers against each other on one workload, so that what the host does to one it
// does to all: rounds of batches in the order A B C, C B A, each batch on fresh contents. Batches
// are checked as they come; a checked call and the order of the calls are drawn from a secret seed.
//
//          fill A, run A   fill B, run B   fill C, run C     check      half a round: one pair each
//          fill C, run C   fill B, run B   fill A, run A     check      the other half
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "evaluate/rig.h"
#include "evaluate/truth.h"

namespace ksearch::evaluate {

struct Entrant {
  std::string name;    ///< "program", "parent", "expert", "choice 2"
  Rig* rig = nullptr;  ///< borrowed; its worker is this entrant's alone
  const kernel::BoundProgram* plan = nullptr;
  /// Its relative error is known and small: others are compared with its outputs. The error.
  std::optional<double> comparator_error;
  bool judged = true;  ///< outputs are checked; an expert's were, at the start
};

struct ContestOptions {
  const kernel::Workload* workload = nullptr;
  int calls = 1;                      ///< of a batch, each on its own set; from a baseline's time
  std::uint64_t first_set = 0;        ///< contents from here on are used by nothing else
  std::chrono::nanoseconds share{0};  ///< wall time; ends after the round in which it is used up
  int least_rounds = 3;
  int most_rounds = 40;
  bool warm_up = true;  ///< half a round that is checked and not counted
  /// The ratio of these two decides when enough is known; its interval narrower than `width` of it.
  std::string of = "program", against;  ///< `against` may be empty: `of`'s own median decides
  double width = 0.02;
  /// On a noisy machine it goes on past `share`, until the interval is `bearable` or this long.
  std::chrono::nanoseconds longest{0};
  double bearable = 0.1;
  /// After the least rounds, ends it where the ratio to this entrant is surely under `hopeless`.
  std::string parent;
  double hopeless = 0.95;
  std::chrono::nanoseconds limit_per_call{0};
  bool fresh = true;  ///< false: all calls of a batch on one set, left in the caches
};

struct ContestResult {
  std::map<std::string, std::vector<double>> call_ns;  ///< batch means, in step with each other
  int batches = 0;                                     ///< timed, all entrants
  int checked_in_full = 0;
  /// An entrant that failed is out; the contest goes on without it unless it is `of`.
  std::map<std::string, Failure> out;
};

/// The failure is that of `of`, or Lost.
Tried<ContestResult> contest(std::vector<Entrant> entrants, Truth& truth,
                             const ContestOptions& options, const base::Clock& clock,
                             base::Random& random);

/// Calls of a batch: about `batch` of the reference time, at most what memory allows, 64 at most.
int calls_per_batch(double reference_ns, const std::vector<kernel::TensorShape>& tensors);

}  // namespace ksearch::evaluate
