#include "evaluate/supported.h"

namespace ksearch::evaluate {

std::vector<kernel::Workload> supported(const task::Task& task, const task::Expert& expert,
                                        const std::vector<kernel::Workload>& workloads) {
  if (!expert.supports) return workloads;
  std::vector<kernel::Workload> some;
  for (const kernel::Workload& w : workloads) {
    const auto yes = expert.supports->eval_boolean(kernel::scope_of(task.definition, w));
    if (yes && *yes) some.push_back(w);
  }
  return some;
}

}  // namespace ksearch::evaluate
