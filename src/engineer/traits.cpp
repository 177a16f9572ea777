#include "engineer/traits.h"

#include <algorithm>
#include <cmath>

namespace ksearch::engineer {
namespace {

/// 1 at or below `full`, 0 at or above `none`, linear in the logarithm between.
double falling(double value, double full, double none) {
  if (value <= full) return 1;
  if (value >= none) return 0;
  return std::log(none / value) / std::log(none / full);
}

double arithmetic_seconds(const kernel::Work& work, const kernel::Workload& workload,
                          const kernel::HardwareProfile& device) {
  const bool bfloat16 = std::ranges::any_of(
      workload.types, [](const auto& type) { return type.second == kernel::DType::bfloat16; });
  const double rate =
      bfloat16 && device.bfloat16_flops > 0 ? device.bfloat16_flops : device.float32_flops;
  return rate > 0 ? work.flops / rate : 0;
}

/// Groups of the naive program's widest launch: how many independent parts the task falls into.
std::optional<double> natural_groups(const kernel::Definition& definition,
                                     const kernel::Workload& workload,
                                     const kernel::HardwareProfile& device,
                                     const kernel::Program& naive) {
  const auto choice = kernel::choose(naive, definition, workload, device, {});
  if (!choice) return std::nullopt;
  const auto bound = kernel::bind(naive, definition, workload, device, *choice);
  if (!bound) return std::nullopt;
  double most = 0;
  for (const kernel::BoundLaunch& launch : bound->launches) {
    double groups = 1;
    for (const std::int64_t n : launch.groups)
      groups *= static_cast<double>(std::max<std::int64_t>(n, 1));
    most = std::max(most, groups);
  }
  return most;
}

}  // namespace

const std::vector<std::string_view>& trait_names() {
  static const std::vector<std::string_view> kNames{
      "bandwidth_bound", "compute_bound", "few_groups", "small", "half_precision", "beyond_cache"};
  return kNames;
}

std::map<std::string, double> traits_of(const kernel::Definition& definition,
                                        const std::vector<kernel::Workload>& workloads,
                                        const kernel::HardwareProfile& device,
                                        const std::optional<kernel::Program>& naive) {
  std::map<std::string, double> sum;
  for (const std::string_view name : trait_names()) sum[std::string(name)] = 0;
  for (const kernel::Workload& workload : workloads) {
    const kernel::Work work = kernel::work_of(definition, workload).value_or(kernel::Work{});
    const double bandwidth =
        device.bandwidth.empty() ? 0 : kernel::bandwidth_at(device, work.bytes);
    const double traffic = bandwidth > 0 ? work.bytes / bandwidth : 0;
    const double arithmetic = arithmetic_seconds(work, workload, device);
    const double share = traffic + arithmetic > 0 ? traffic / (traffic + arithmetic) : 0.5;
    sum["bandwidth_bound"] += share;
    sum["compute_bound"] += 1 - share;
    if (traffic + arithmetic > 0) {
      sum["small"] += falling(std::max(traffic, arithmetic), 10e-6, 1e-3);
    }
    if (work.bytes > static_cast<double>(device.l2_bytes)) sum["beyond_cache"] += 1;
    const bool half = std::ranges::any_of(
        workload.types, [](const auto& type) { return kernel::size_bytes(type.second) == 2; });
    if (half) sum["half_precision"] += 1;
    if (naive) {
      if (const auto groups = natural_groups(definition, workload, device, *naive)) {
        const double a_core =
            *groups / static_cast<double>(std::max<std::int64_t>(device.cores, 1));
        sum["few_groups"] += falling(a_core, 1, 64);
      }
    }
  }
  const double count = std::max<double>(1, static_cast<double>(workloads.size()));
  for (auto& [name, weight] : sum) weight /= count;
  return sum;
}

}  // namespace ksearch::engineer
