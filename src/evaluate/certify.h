// The winner's certificate: the checks of design section 9 that apply to the target, one by one.
//
//   certify ── right:  held_out, stress, inputs_unchanged, poison, trivial_answers, ghost_replay,
//           │          sensitivity                 (certify_right.cpp, certify_sensitivity.cpp)
//           └─ fast:   a_a_ratio, empty_floor, ratio, roofline, fresh_inputs
//                                                  (certify_fast.cpp, certify_race.cpp)
#pragma once

#include "evaluate/session_state.h"

namespace ksearch::evaluate {

base::Result<Certificate> certify(SessionState& state, const kernel::Program& program,
                                  const kernel::Select& select, const Progress& progress);

/// What the checks of one certificate share.
struct Certification {
  SessionState& session;
  const Progress& progress;
  PreparedProgram program;  ///< bound by `select` on tiny, held-out and feedback shapes
  kernel::Select select;
  std::unique_ptr<Truth> truth;  ///< of fresh seeds
  std::uint64_t seed = 0;
  base::Random random{0};
  Certificate certificate;
  std::optional<PreparedProgram> naive;  ///< against which it is timed where no expert runs
  std::unique_ptr<target::Worker> naive_worker;
  std::map<std::string, double> call_ns;  ///< by workload, from the first check

  /// Rounds at least, calls a batch at most: a program of seconds a call is timed coarsely.
  int least_rounds(const kernel::Workload& workload) const {
    const auto known = call_ns.find(workload.name);
    const double ns = known == call_ns.end() ? 0 : known->second;
    return ns > 2e8 ? 1 : ns > 5e7 ? 2 : 4;
  }
  int calls(const kernel::Workload& workload, double reference_ns) const {
    const auto known = call_ns.find(workload.name);
    if (known != call_ns.end() && known->second > 5e7) return 1;
    return calls_per_batch(reference_ns, session.truth->maker(workload).tensors());
  }

  const kernel::BoundProgram& plan(const kernel::Workload& workload) const {
    return program.plan(workload.name, program.legal.at(workload.name).front());
  }
  base::Result<std::unique_ptr<target::Worker>> start() const {
    return session.target->start(program.executable);
  }
  void add(std::string name, bool passed, std::string finding, base::Json details = nullptr) {
    certificate.checks.push_back({std::move(name), passed, std::move(finding), std::move(details)});
  }
};

inline constexpr int kStretch = 4;  ///< times its share, where the machine is noisy
inline constexpr int kMostRounds = 200;

/// A failure of the environment; of a step that nobody's program can fail.
base::Error gone(const kernel::Lost& lost);
base::Error failed_step(const Failure& failure);
/// A failed step of the program's: the verdict in words. The environment's failures go up.
base::Result<std::string> words(const Failure& failure);

/// Perturbs each input in turn: the output must change as the reference does. A term that was
/// dropped because it is small hides in the tolerance of the whole output, not in that of the
/// change.
base::Result<void> certify_sensitivity(Certification& c);
/// False: a check failed that makes timing pointless. The error is the environment's.
base::Result<bool> certify_right(Certification& c);
base::Result<void> certify_fast(Certification& c);
/// Times a list of workloads; cold ratios to `timings`, warm ones to `warm`. False: a call failed.
base::Result<bool> certify_race(Certification& c, target::Worker& worker,
                                const std::vector<kernel::Workload>& list,
                                std::vector<kernel::WorkloadTiming>& timings, base::Json& warm,
                                int& checked, int& batches);

}  // namespace ksearch::evaluate
