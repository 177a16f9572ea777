// What the system says of this machine's CPU. Measuring it is profile.h's. One file for each
// system.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ksearch::target {

struct CpuInfo {
  std::string model;               ///< "Intel(R) Xeon(R) Processor"
  std::set<std::string> features;  ///< of kFeatures that the CPU and the system offer
  std::int64_t simd_width = 1;     ///< floats in the widest vector register
  std::int64_t l1_bytes = 0;       ///< data, of one core; 0 where the system does not tell
  std::int64_t l2_bytes = 0;
  std::string system;  ///< kernel name and release
};
CpuInfo read_cpu_info();

/// CPUs we may use, one of each physical core first and then their siblings, so that the first n
/// are the best n. From the highest number down: systems put their own work on the low ones.
std::vector<int> ordered_cpus();
/// Threads to use where nobody says how many: physical cores we may use, less where a container's
/// quota is smaller.
int default_threads();

/// Names that `device.has_NAME` may ask for on a CPU.
const std::vector<std::string>& feature_names();

}  // namespace ksearch::target
