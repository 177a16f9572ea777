// What an outcome says in figures, whether they were measured or modelled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/outcome.h"

namespace ksearch::search {

/// Empty where nothing was timed.
const std::vector<kernel::WorkloadTiming>& timings_of(const kernel::Outcome& outcome);
/// The geometric mean ratio to "naive", "expert" or "parent", if it was taken.
std::optional<kernel::Ratio> ratio_to(const kernel::Outcome& outcome, std::string_view baseline);
/// The experts that were the best on some workload, in the order of the workloads: "torch,
/// openblas".
std::string expert_names(const kernel::Outcome& outcome);
bool is_modelled(const kernel::Outcome& outcome);

}  // namespace ksearch::search
