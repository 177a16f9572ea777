// What a device is and what it reaches. Measured for CPUs, data files for the rest.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/expr.h"

namespace ksearch::kernel {

/// Sustained traffic of a read-and-write loop over a working set of that size.
struct BandwidthPoint {
  double working_set_bytes = 0;
  double bytes_per_second = 0;
};

struct HardwareProfile {
  std::string name;               ///< "cpu: Intel Xeon ... (2 threads)", "apple-m1-max"
  std::string kind;               ///< "cpu", "cuda", "metal"
  std::int64_t cores = 1;         ///< CPU threads in use, SMs, GPU cores
  std::int64_t simd_width = 1;    ///< floats in a vector register; lanes of a warp
  std::int64_t group_memory = 0;  ///< bytes
  std::int64_t max_group_size = 1;
  std::int64_t l1_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::set<std::string> features;         ///< "avx512f", "amx_bf16", ... : `device.has_avx512f`
  double float32_flops = 0;               ///< sustained FMA rate over all cores in use, flop/s
  double special_function_cost = 0;       ///< in issue slots of a simple operation; 0: not known
  double bfloat16_flops = 0;              ///< of the matrix unit where there is one, else 0
  std::vector<BandwidthPoint> bandwidth;  ///< ascending working sets
  double timer_overhead_ns = 0;
  std::string measured_at;  ///< ISO 8601, or empty for data files
  std::string source;       ///< how the figures were had
};

/// `device.*` names for expressions; every `device.has_X` that is not a feature is false.
void add_device(const HardwareProfile& profile, Scope& scope);

/// Bandwidth for a working set, log-linear between the points.
double bandwidth_at(const HardwareProfile& profile, double working_set_bytes);

base::Json to_json(const HardwareProfile& profile);
base::Result<HardwareProfile> parse_hardware(const base::Json& json, std::string_view where);

}  // namespace ksearch::kernel
