#include "evaluate/session_state.h"

#include "evaluate/statistics.h"

namespace ksearch::evaluate {

using namespace std::chrono_literals;

kernel::Dialect dialect_of(const kernel::HardwareProfile& device) {
  if (device.kind == "cuda") return kernel::Dialect::cuda;
  if (device.kind == "metal") return kernel::Dialect::mlx;
  return kernel::Dialect::cpp;
}

ExpertRunner* SessionState::expert_of(const std::string& workload) {
  const Baselines::Best* best = best_of(workload);
  if (!best || best->expert.empty()) return nullptr;
  for (ExpertRunner& r : experts)
    if (r.expert->name == best->expert && r.worker) return &r;
  return nullptr;
}

const Baselines::Best* SessionState::best_of(const std::string& workload) const {
  for (const auto& b : baselines.best)
    if (b.workload == workload) return &b;
  return nullptr;
}

std::chrono::nanoseconds SessionState::limit_of(const std::string& workload) const {
  const auto naive = naive_ns.find(workload);
  if (naive != naive_ns.end())
    return std::chrono::nanoseconds(static_cast<std::int64_t>(10 * median(naive->second))) + 2s;
  const Baselines::Best* best = best_of(workload);
  if (best && best->expert_ns > 0)
    return std::chrono::nanoseconds(static_cast<std::int64_t>(1000 * best->expert_ns)) + 2s;
  return naive_ns.empty() ? std::chrono::nanoseconds(30s) : std::chrono::nanoseconds(2s);
}

std::vector<OutputSpec> SessionState::outputs(const kernel::Workload& workload) const {
  return outputs_of(task->definition, truth->maker(workload).tensors());
}

}  // namespace ksearch::evaluate
