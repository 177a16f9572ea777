// The time of a kernel on an Apple GPU, from what the engine counted and the GPU as data. A model:
// docs/apple-time-model.md states each term, where its constants come from, and how far it is from
// what was published. Nothing here was measured on such a GPU.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "target/metal/gpu_profile.h"
#include "target/metal/group_lengths.h"

namespace ksearch::target {

/// Of the model as a whole: a time is comparable with those of the same version only.
inline constexpr std::string_view kTimeModelVersion = "2";

struct GpuLaunch {
  std::string kernel;
  double groups = 1;
  double threads = 1;  ///< of a group
  Grid grid{};         ///< of the groups; zeros: groups are taken to be alike
};

/// One thing that takes time; the largest is the bottleneck.
struct TimeTerm {
  std::string name;  ///< "issue", "latency", "l1", "l2", "slc", "dram"
  double seconds = 0;
};

/// What a line of the source costs of the bottleneck.
struct LineCost {
  std::string file;
  int line = 0;
  double share = 0;  ///< of the bottleneck's whole
  std::string what;  ///< "float.exp2, float.fma", "loads of k"
};

struct ModelledLaunch {
  double seconds = 0;         ///< dispatch included
  double kernel_seconds = 0;  ///< without it
  std::vector<TimeTerm> terms;
  std::string bottleneck;          ///< of the terms, or "dispatch"
  double resident_simdgroups = 0;  ///< on a core
  /// Where groups are not alike: what the core that ends last takes, to what it would if they were.
  double unevenness = 1;
  std::string occupancy_limit;  ///< "registers", "group memory", "groups" (too few), "SIMD-groups"
  std::vector<LineCost> costs;  ///< the largest first, three at most
  /// Shares of issue by kind of operation ("matrix.half", "loads"), the largest first, from 1% on.
  std::vector<std::pair<std::string, double>> kinds;
  int half_registers = 0;    ///< that a thread wants
  double spilled_bytes = 0;  ///< moved because it cannot have so many
  /// Where registers limit it: with so many a thread so many SIMD-groups would be resident; else 0.
  int next_registers = 0;
  double next_simdgroups = 0;
};

/// `trace`: that of simt::check. An error where it lacks what the model needs.
base::Result<ModelledLaunch> model_launch(const GpuProfile& gpu, const GpuLaunch& launch,
                                          const base::Json& trace);

struct ModelledProgram {
  double seconds = 0;
  double launching_seconds = 0;  ///< of them: dispatch and command buffers, as for empty kernels
  std::vector<ModelledLaunch> launches;
};
/// Launches in order, each waiting for the one before, in command buffers as MLX commits them.
/// `times`: how often each launch is made. `a_buffer`: launches of a command buffer; 0: as MLX has
/// them for this class of GPU.
ModelledProgram model_program(const GpuProfile& gpu, std::vector<ModelledLaunch> launches,
                              const std::vector<double>& times, double a_buffer = 0);

/// One paragraph for an engineer: bottleneck, what limits occupancy, the largest costs by line,
/// what dropping the loads or the arithmetic would leave.
std::string describe(const ModelledProgram& program);

/// Cycles in which a scheduler issues one operation of a SIMD-group, by the trace's kind.
double issue_cycles(const GpuProfile& gpu, std::string_view kind);

}  // namespace ksearch::target
