// One evaluation of one program, stage after stage; the first that fails decides.
#pragma once

#include "evaluate/session_state.h"

namespace ksearch::evaluate {

class Evaluation {
 public:
  Evaluation(SessionState& state, const EvaluateRequest& request, const Progress& progress)
      : s_(state), request_(request), progress_(progress) {}

  kernel::EvaluateReply run();

 private:
  struct Lane {  // one choice of tunables with a process of its own
    kernel::TunableChoice choice;
    std::unique_ptr<target::Worker> worker;
  };

  Tried<kernel::Measured> stages();
  Tried<void> look_for_duplicate();
  Tried<void> check_shapes(kernel::Stage stage, const std::vector<kernel::Workload>& workloads);
  Tried<void> tune();
  Tried<void> tune_on(const kernel::Workload& workload, std::vector<Lane>& lanes);
  Tried<void> start_parent();
  Tried<kernel::WorkloadTiming> time_on(const kernel::Workload& workload,
                                        std::chrono::nanoseconds share);
  std::chrono::nanoseconds allowance() const;
  Tried<void> note_floor(const kernel::Workload& workload, const kernel::WorkloadTiming& timing);
  int batch_calls(const kernel::Workload& workload) const;
  double round_ns(const kernel::Workload& workload) const;
  const kernel::HardwareProfile& profile() const { return s_.target->device(); }

  SessionState& s_;
  const EvaluateRequest& request_;
  const Progress& progress_;
  kernel::Outcome outcome_;
  std::string first_seen_;  // its normalised hash, unless it is a duplicate
  PreparedProgram program_;
  std::unique_ptr<target::Worker> worker_;
  std::optional<PreparedProgram> parent_;
  std::unique_ptr<target::Worker> parent_worker_;
  /// Time of a call where it was checked: limits and plans follow from it.
  std::map<std::pair<std::string, kernel::TunableChoice>, double> checked_ns_;
  std::map<std::pair<std::string, kernel::TunableChoice>, double> tuned_error_;
};

}  // namespace ksearch::evaluate
