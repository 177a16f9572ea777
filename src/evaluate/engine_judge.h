// Judges one program on a GPU that is not here: runs it in the engine and compares with float64,
// models its times, and certifies. What an engine session asks; ratios are the session's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/certificate.h"
#include "evaluate/engine_runner.h"
#include "evaluate/evaluator.h"
#include "evaluate/prepared_program.h"
#include "evaluate/statistics.h"
#include "evaluate/truth.h"

namespace ksearch::evaluate {

enum class Judging {
  candidate,  ///< tiny shapes watched, outputs of every feedback workload
  trusted,    ///< a baseline of the project's own: tiny shapes watched, the rest is timed only
};

class EngineJudge {
 public:
  /// Tiny shapes that one program is run on during a search; its certificate runs them all.
  static constexpr std::size_t kTinyInASearch = 3;

  /// All but the runner is borrowed.
  EngineJudge(const task::Task& task, const target::GpuProfile& gpu, EngineRunner runner,
              target::Target& reference, std::uint64_t seed);

  base::Result<void> open_truth();

  /// `outcome` is told stage, workload, tunables and notes as it goes. Of an expert only what it
  /// supports.
  Tried<kernel::Modelled> judge(const kernel::Program& program, Judging how,
                                kernel::Outcome& outcome, const Progress& progress,
                                const task::Expert* expert = nullptr);
  /// Runs it watched on so many of the tiny shapes, under each of the schedules.
  Tried<void> check_tiny(const kernel::Program& program, std::size_t most,
                         const std::vector<simt::ScheduleChoice>& schedules, std::string& at,
                         const task::Expert* expert = nullptr);
  /// Modelled times of a program that is known to be right, in ns by workload; those it does not
  /// support left out.
  Tried<std::map<std::string, double>> times(const kernel::Program& program,
                                             const std::vector<kernel::Workload>& workloads,
                                             const task::Expert* expert = nullptr);
  /// engine_certify.cpp.
  base::Result<Certificate> certify(const kernel::Program& program, const kernel::Select& select,
                                    const Progress& progress);

  const task::Task& task() const { return *task_; }
  const kernel::HardwareProfile& device() const { return device_; }
  const std::vector<kernel::Workload>& feedback() const { return feedback_; }
  const std::vector<kernel::Workload>& heldout() const { return heldout_; }

 private:
  friend class EngineCertification;

  /// A run whose outputs are compared (engine_checks.cpp).
  struct Check {
    const kernel::Workload* workload = nullptr;
    kernel::TunableChoice choice;
    task::Content content;
    Look look = Look::watched;
    simt::ScheduleChoice schedule = {};
  };
  /// Watched runs on the shapes; each choice of tunables and each content has its turn. A loop of
  /// launches longer than the engine runs is left out where `skip_long`.
  std::vector<Check> tiny_checks(const PreparedProgram& program,
                                 const std::vector<kernel::Workload>& tiny,
                                 const std::vector<simt::ScheduleChoice>& schedules,
                                 bool skip_long) const;
  std::vector<EngineJob> jobs_of(const PreparedProgram& program, Truth& truth,
                                 const std::vector<Check>& checks) const;
  /// The first that fails ends it; its workload goes to `at`.
  Tried<void> compare_all(const std::vector<Check>& checks, Truth& truth,
                          const std::vector<Tried<EngineRunner::Outputs>>& results,
                          std::string& at) const;
  Tried<void> check_all(const PreparedProgram& program, Truth& truth,
                        const std::vector<Check>& checks, std::string& at);
  Tried<void> check_outputs(const Check& check, Truth& truth,
                            const EngineRunner::Outputs& outputs) const;
  /// Jobs whose outputs are wanted, run beside others, and what they left.
  struct Beside {
    std::vector<EngineJob> jobs;
    std::vector<Tried<EngineRunner::Outputs>> outputs;
  };
  struct Times {
    std::vector<kernel::WorkloadTiming> timings;
    kernel::Select select;  ///< what was chosen, where nothing was selected
    std::vector<std::string> notes;
    /// By workload: the share of its time that launching takes.
    std::map<std::string, double> launching;
  };
  /// Every legal choice where nothing is selected yet, else the selected ones. The workload that
  /// fails goes to `at`.
  Tried<Times> model(const PreparedProgram& program, const std::vector<kernel::Workload>& workloads,
                     const kernel::Select* select, Beside* beside = nullptr,
                     std::string* at = nullptr);
  kernel::WorkloadTiming timing_of(const kernel::Workload& workload,
                                   const kernel::TunableChoice& choice, double seconds) const;

  const task::Task* task_;
  task::Task with_checked_;  ///< and the smaller shapes that stand for workloads
  kernel::HardwareProfile device_;
  std::string gpu_name_;
  EngineRunner runner_;
  target::Target* reference_;
  std::uint64_t seed_;
  std::unique_ptr<Truth> truth_;
  std::vector<kernel::Workload> tiny_, feedback_, heldout_, checked_;  ///< checked_: of feedback_
};

}  // namespace ksearch::evaluate
