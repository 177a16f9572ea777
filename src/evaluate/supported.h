// Which workloads an expert can be compared on.
#pragma once

#include <vector>

#include "kernel/workload.h"
#include "task/task.h"

namespace ksearch::evaluate {

/// Those of the workloads that the expert says it supports; all where it says nothing. A condition
/// that cannot be evaluated for a workload leaves it out.
std::vector<kernel::Workload> supported(const task::Task& task, const task::Expert& expert,
                                        const std::vector<kernel::Workload>& workloads);

}  // namespace ksearch::evaluate
