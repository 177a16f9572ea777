// An evaluation session: one task on one target. It makes the float64 references, measures naive
// and every expert once, then judges programs against them, and certifies a winner.
//
//   open ── references, naive, experts            once, before the search starts
//   evaluate ── check, bind, build, tiny shapes, feedback shapes, tunables, timing    a program
//   each certify ── held-out shapes, fresh seeds, every check of design section 9          the
//   winner
//
// One session is used by one thread at a time: what it times must have the machine for itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/certificate.h"
#include "evaluate/evaluator.h"
#include "evaluate/truth.h"
#include "target/target.h"
#include "task/task.h"

namespace ksearch::evaluate {

/// Runs a program on tiny shapes where races, bounds and unwritten outputs are seen, which a GPU
/// does not show; `whole`: on all of them, in several orders. The workload that failed goes to
/// `at`.
using Watch =
    std::function<Tried<void>(const kernel::Program& program, bool whole, std::string& at)>;

struct SessionOptions {
  const task::Task* task = nullptr;  ///< borrowed for the session; filtered by --where already
  target::Target* target = nullptr;  ///< borrowed; where programs run
  target::Target* reference_target = nullptr;  ///< borrowed; a CPU target on all cores for float64
  StartScript start_script;     ///< null: experts in Python are skipped, and that is said
  TrustExpert trust_expert;     ///< null: experts that link a library are skipped
  StartScript start_operation;  ///< of the target's library; null: such experts are skipped
  Watch watch;                  ///< null: the target itself sees what a kernel does wrong
  /// Facts for certificates that only the caller knows: {"sandbox", "compiler", "ksearch", ...}.
  base::Json basis = base::Json::object();
  /// Measures the ceilings now: once at the start, and again, before a program is called too fast
  /// to be true. Null: as they are.
  std::function<base::Result<kernel::HardwareProfile>()> measure_ceilings;
  /// False: the ceilings are a chip's data; a time beyond them is said, and not rejected.
  bool ceilings_judge = true;
  std::uint64_t seed = 1;  ///< inputs, orders and checked calls; kept from programs
  /// Wall time for the timed batches of one evaluation, shared by its workloads. Compiling and
  /// checking come on top.
  std::chrono::milliseconds timing{3000};
  /// A workload is timed until the 95% interval of its ratio spans less than this share of it.
  double ratio_width = 0.02;
  const base::Clock* clock = nullptr;  ///< null: the steady clock
};

/// What one expert reached on one workload at the start of the session.
struct ExpertResult {
  std::string expert;
  std::string workload;
  double median_ns = 0;  ///< 0 where it did not run
  double error = 0;      ///< relative rms error against float64
  std::string why_not;   ///< unsupported, wrong or failed: in words; empty where it counts
};

struct Baselines {
  struct Best {
    std::string workload;
    double naive_ns = 0;
    std::string expert;  ///< the fastest right one, or empty
    double expert_ns = 0;
  };
  std::vector<Best> best;             ///< one for each feedback workload
  std::vector<ExpertResult> experts;  ///< everything that was tried
  std::vector<std::string> notes;     ///< "torch: no module named torch in /usr/bin/python3", ...
  std::string baseline;  ///< what scores are against: "expert" where every workload has one
};
base::Json to_json(const Baselines& baselines);

class Session : public Evaluator {
 public:
  /// An error where the task cannot be evaluated here: no reference, naive program wrong, no
  /// workload left. Takes seconds: references and baselines are made here.
  static base::Result<std::unique_ptr<Session>> open(const SessionOptions& options,
                                                     const Progress& progress);

  const Baselines& baselines() const { return baselines_; }
  /// The naive program's outcome, from the session's start: the root of a search.
  virtual const kernel::Outcome& naive_outcome() const = 0;
  /// The target's device with the ceilings as measured in this session.
  virtual const kernel::HardwareProfile& device() const = 0;
  /// Judges a program that was Measured, on held-out shapes and fresh seeds. The error is the
  /// environment's; a program that fails a check gets a certificate that says `failed`.
  virtual base::Result<Certificate> certify(const kernel::Program& program,
                                            const kernel::Select& select,
                                            const Progress& progress) = 0;

 protected:
  Baselines baselines_;
};

}  // namespace ksearch::evaluate
