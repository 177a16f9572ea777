// Whether a program is right on one workload: several contents, stressed ones too, each in fresh
// poisoned buffers, then once more with the contents moved on by one set.
#pragma once

#include <chrono>
#include <vector>

#include "base/random.h"
#include "evaluate/rig.h"
#include "evaluate/truth.h"

namespace ksearch::evaluate {

struct VerifyRequest {
  const kernel::Workload* workload = nullptr;
  const kernel::BoundProgram* plan = nullptr;  ///< null for a script
  std::vector<task::Content> contents;         ///< two at least
  std::chrono::nanoseconds limit_per_call{0};
  /// Above this time a call, the second round runs one set only.
  std::chrono::nanoseconds slow{300'000'000};
  bool second_round = true;  ///< naive and experts are trusted not to keep anything between calls
};

struct Verified {
  double call_ns = 0;  ///< a call's mean in the first round: for limits and for planning
  std::vector<double>
      samples_ns;          ///< the calls of the first round, as the worker divides the bracket
  double error = 0;        ///< largest relative rms error
  bool repeatable = true;  ///< the same inputs gave the same bits
};

/// The contents a workload is checked on: two of the definition's own distribution and every
/// stressed one for a tiny shape; one of its own and one more (stressed where there is one) for
/// others.
std::vector<task::Content> contents_for(const kernel::Workload& workload,
                                        const task::InputMaker& maker, std::uint64_t first_set);

Tried<Verified> verify(Rig& rig, Truth& truth, const VerifyRequest& request, base::Random& random);

/// 0 .. n - 1 in a random order.
std::vector<int> shuffled(int n, base::Random& random);

}  // namespace ksearch::evaluate
