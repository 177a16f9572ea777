// A program of dialect mlx as one Python file that needs MLX alone: a function with the task's
// signature. The launch plan becomes code; kernels are built once; the tunables that were selected
// are chosen by shape.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/definition.h"
#include "kernel/hardware.h"
#include "kernel/program.h"
#include "kernel/workload.h"

namespace ksearch::formats {

struct MlxExportRequest {
  const kernel::Program* program = nullptr;  ///< dialect mlx; its `select` is merged in
  const kernel::Definition* definition = nullptr;
  /// What must work afterwards: where `select` does not fit, the first tunables that fit one of
  /// these are tried.
  std::vector<kernel::Workload> workloads;
  kernel::HardwareProfile device;   ///< what `device.*` in the plan is
  std::string name;                 ///< of the function; empty: the task's
  std::vector<std::string> credit;  ///< lines for the docstring: run, certificate, figures
  std::string reference;            ///< Python text of a function `reference`, or empty
};

/// The file's text. An error where the program cannot be had so: another dialect, an offset, a
/// dtype that MLX lacks.
base::Result<std::string> export_mlx_python(const MlxExportRequest& request);

}  // namespace ksearch::formats
