// Program + task + target -> outcome, and the winner's certificate. Never loads candidate code.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/outcome.h"

namespace ksearch::evaluate {

/// One evaluation. The parent program (if any) is timed interleaved with the candidate.
struct EvaluateRequest {
  kernel::Program program;
  std::optional<kernel::Program> parent;
  kernel::Select parent_select;
  /// What is left of the run's wall time: an allowance to keep to, not a limit that cuts.
  std::optional<std::chrono::nanoseconds> time_left;
};

/// Told as an evaluation goes on, for views: "compile", "tiny 3/12", "timing f32_causal_d64".
using Progress = std::function<void(std::string_view what)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual kernel::EvaluateReply evaluate(const EvaluateRequest& request,
                                         const Progress& progress) = 0;
};

}  // namespace ksearch::evaluate
