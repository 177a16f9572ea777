// What a session holds while it is open: shared by making the baselines, evaluating and certifying.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "evaluate/contest.h"
#include "evaluate/prepared_program.h"
#include "evaluate/session.h"
#include "evaluate/truth.h"

namespace ksearch::evaluate {

/// Parameters of a floor: the groups of every launch.
using LaunchShape = std::vector<std::array<std::int64_t, 3>>;

/// An expert that ran at the start. Its process lives as long as the session: a library takes
/// seconds to load.
struct ExpertRunner {
  const task::Expert* expert = nullptr;
  std::optional<PreparedProgram> prepared;  ///< none: a script
  target::Trust trust;
  std::unique_ptr<target::Worker> worker;  ///< null: failed or not started
  std::map<std::string, double> error;     ///< relative rms, by workload on which it is right
};

struct SessionState {
  SessionOptions options;
  const task::Task* task = nullptr;
  target::Target* target = nullptr;
  const base::Clock* clock = nullptr;
  kernel::HardwareProfile device;  ///< as the target has it, ceilings measured anew
  std::unique_ptr<Truth> truth;
  base::Random random{0};
  std::vector<kernel::Workload> tiny, feedback, heldout;
  Baselines baselines;
  kernel::Outcome naive_outcome;
  std::string naive_hash;
  std::map<std::string, std::vector<double>> naive_ns;  ///< samples by workload
  std::vector<ExpertRunner> experts;
  std::map<std::string, std::string> seen;  ///< normalised hash -> hash of who came first
  /// Medians of programs that were measured, by hash and workload: what timing a parent will cost.
  std::map<std::string, std::map<std::string, double>> measured_ns;
  std::map<LaunchShape, double> floors;  ///< ns of a call with empty kernels
  std::unique_ptr<target::Worker> floor_worker;
  std::uint64_t next_set = std::uint64_t{1} << 32;  ///< contents that nothing has used

  /// Contents for one contest, never used again.
  std::uint64_t take_sets() {
    const std::uint64_t first = next_set;
    next_set += std::uint64_t{1} << 20;
    return first;
  }
  /// The best expert of a workload, or null.
  ExpertRunner* expert_of(const std::string& workload);
  const Baselines::Best* best_of(const std::string& workload) const;
  /// Limit of one call: ten times naive and two seconds more.
  std::chrono::nanoseconds limit_of(const std::string& workload) const;
  std::vector<OutputSpec> outputs(const kernel::Workload& workload) const;
};

/// Naive and experts are trusted to end, slowly perhaps.
inline constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(120);

/// Of programs for such a device.
kernel::Dialect dialect_of(const kernel::HardwareProfile& device);

/// Chooses the experts that run here and starts them; what does not start is noted.
void start_experts(SessionState& state, const Progress& progress);
/// Right ones against each other on each feedback workload; only those that are best somewhere
/// stay.
base::Result<void> time_experts(SessionState& state, const Progress& progress);

/// References, naive, experts: all that a session measures before the first program.
base::Result<void> make_baselines(SessionState& state, const Progress& progress);

/// Fills the ratios, the roofline and the interval of one workload from a contest's samples.
kernel::WorkloadTiming timing_of(SessionState& state, const kernel::Workload& workload,
                                 const ContestResult& result, const kernel::TunableChoice& choice);

/// Sets score, ratios and baseline from the workloads.
kernel::Measured summarise(const SessionState& state,
                           std::vector<kernel::WorkloadTiming> workloads);

/// A call of the plan with empty kernels, in ns: measured once for each launch shape. Nothing where
/// it cannot be (another dialect).
std::optional<double> floor_ns(SessionState& state, const kernel::BoundProgram& plan);
/// The same of the program's own plan, in a worker of its own: slower to have, and of any dialect
/// that has empty programs.
std::optional<double> empty_ns(SessionState& state, const kernel::Program& program,
                               const kernel::BoundProgram& plan, const kernel::Workload& workload);

/// A time that is faster than the machine, looked at again with ceilings measured now. Too fast
/// still: Rejected.
Tried<void> believe(SessionState& state, const kernel::Workload& workload,
                    kernel::WorkloadTiming& timing, std::vector<std::string>& notes);

}  // namespace ksearch::evaluate
