// What binds a task's workloads on a device, as weights: what a catalog step can say it helps with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/bind.h"
#include "kernel/hardware.h"
#include "kernel/workload.h"

namespace ksearch::engineer {

/// Weight of each trait, 0 to 1, mean over the workloads.
///   bandwidth_bound   time of the traffic / (time of the traffic + time of the arithmetic), from
///   the
///                     definition's flops and bytes against the profile's rates
///   compute_bound     the rest
///   few_groups        1 where the naive program has no more groups than the device has cores,
///   falling
///                     to 0 at 64 groups a core
///   small             1 where a call's least time is under 10 us, falling to 0 at 1 ms
///   half_precision    share of workloads with a 16-bit type
///   beyond_cache      share of workloads whose bytes exceed the second-level cache
/// Without flops and bytes in the definition, both bounds weigh 0.5.
std::map<std::string, double> traits_of(const kernel::Definition& definition,
                                        const std::vector<kernel::Workload>& workloads,
                                        const kernel::HardwareProfile& device,
                                        const std::optional<kernel::Program>& naive);

/// The names above.
const std::vector<std::string_view>& trait_names();

}  // namespace ksearch::engineer
