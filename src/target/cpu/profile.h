// The device profile of this machine's CPU: what the system says, and ceilings that are measured by
// running probes in the CPU worker. Cached, because a run asks for it first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel/hardware.h"
#include "target/cpu/cpu_target.h"

namespace ksearch::target {

struct ProfileOptions {
  int threads = 1;                  ///< `cores` of the profile
  std::vector<int> cpus;            ///< pinned to these, one a thread; empty: not pinned
  std::vector<std::string> worker;  ///< as in CpuTargetOptions
  std::uint64_t seed = 0;
  bool again = false;  ///< measure although the cache has one
  /// Measure the rates too: a profile of a busier moment would flatter every program.
  bool doubt_cache = false;
};

/// Names, features and sizes only; nothing measured.
kernel::HardwareProfile describe_cpu(int threads);

/// Rates, bandwidth and timer overhead of `threads` threads together: the best of some batches,
/// because a ceiling is what the machine can do when nothing disturbs it. About two seconds, or
/// what the cache has for this CPU, thread count, system and compiler.
base::Result<kernel::HardwareProfile> measure_cpu(const toolchain::Builder& builder,
                                                  const ProfileOptions& options);

/// Measures float32_flops and bfloat16_flops of `profile` anew (0.3 s): a shared host's clock
/// drifts from run to run.
base::Result<kernel::HardwareProfile> measure_rates(const toolchain::Builder& builder,
                                                    const ProfileOptions& options,
                                                    kernel::HardwareProfile profile);

}  // namespace ksearch::target
