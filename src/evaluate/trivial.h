// Answers that need no work. A workload on which one of them passes proves nothing.
#pragma once

#include <string>
#include <vector>

#include "evaluate/compare.h"
#include "evaluate/truth.h"

namespace ksearch::evaluate {

/// Which of these would pass for every output: zeros, the mean of what is wanted, a copy of an
/// input.
std::vector<std::string> trivial_answers(const kernel::Definition& definition,
                                         const task::InputMaker& maker,
                                         const task::Content& content, const Outputs& truth);

/// Workloads of a task on which a trivial answer passes, in words: "zeros pass on f32_1x1". Tiny
/// shapes may (a softmax over one column is all ones); a feedback or held-out workload must not.
std::expected<std::vector<std::string>, kernel::Lost> check_trivial(
    const kernel::Definition& definition, Truth& truth,
    const std::vector<kernel::Workload>& workloads);

}  // namespace ksearch::evaluate
