// What the exports of programs of dialect mlx have in common: what is asked for, what MLX takes of
// it, and a launch's call before it is text of a language.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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
  std::vector<std::string> credit;  ///< lines for the head: run, certificate, figures
  std::string reference;  ///< text of a function `reference` in the form's language, or empty
};

/// The text of the program's file of that name, or null.
const std::string* mlx_source(const kernel::Program& program, const std::string& path);
/// The body of a kernel: an error where the program has none.
base::Result<const std::string*> mlx_body(const kernel::Program& program,
                                          const std::string& kernel);

/// Whether a tensor is an input that the caller may leave out.
bool may_be_absent(const kernel::Definition& definition, std::string_view tensor);
/// Whether a launch's `when` is has(tensor), or that and more.
bool is_guarded(const kernel::Launch& launch, std::string_view tensor);

/// Of each tensor that launches write, how many do so under a condition: 0 where the one that
/// writes it always runs.
using MlxWriters = std::map<std::string, int, std::less<>>;
base::Result<MlxWriters> mlx_writers(const kernel::Program& program,
                                     const kernel::Definition& definition);

/// The first required input of each type variable.
const kernel::TensorSpec* input_of_type(const kernel::Definition& definition,
                                        std::string_view variable);
/// Axes that no required input has: the caller says them.
std::vector<std::string> asked_axes(const kernel::Definition& definition);

/// Tunables that are tried for any shape: those that fit some workload, each once.
base::Result<std::vector<kernel::TunableChoice>> fitting_choices(const MlxExportRequest& request);

/// "device.cores" and its like; "device.has_*" is 0 or 1 by `features`.
struct DeviceFigure {
  std::int64_t value = 0;
  bool boolean = false;
};
DeviceFigure device_figure(const kernel::HardwareProfile& device, std::string_view name);

/// One launch as mx.fast.metal_kernel takes it.
struct MlxCall {
  struct Output {
    std::string tensor;
    const std::vector<kernel::Expr>* shape = nullptr;
    const kernel::Expr* dtype = nullptr;
  };
  /// A tensor's name, or a number.
  std::vector<std::variant<std::string, const kernel::ScalarArg*>> inputs;
  std::vector<Output> outputs;
  std::optional<double> init;
  bool atomic = false;

  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
};
base::Result<MlxCall> mlx_call(const kernel::Program& program, const kernel::Definition& definition,
                               const kernel::Launch& launch);

/// A size of the grid in threads: how many, each `times` long where it was counted in groups.
struct MlxGridSize {
  const kernel::Expr* count = nullptr;  ///< null: 1
  const kernel::Expr* times = nullptr;
};
MlxGridSize mlx_grid(const kernel::Launch& launch, std::size_t dimension);

}  // namespace ksearch::formats
