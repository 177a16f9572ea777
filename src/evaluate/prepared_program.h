// A program bound to workloads and built: every plan that will be run, and the executable.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/attempt.h"
#include "kernel/bind.h"
#include "target/target.h"

namespace ksearch::evaluate {

struct PreparedProgram {
  kernel::Program program;
  target::Executable executable;
  /// By workload; in the order that the program lists its tunables.
  std::map<std::string, std::vector<kernel::TunableChoice>> legal;
  std::map<std::pair<std::string, kernel::TunableChoice>, kernel::BoundProgram> plans;

  const kernel::BoundProgram& plan(const std::string& workload,
                                   const kernel::TunableChoice& choice) const;
  /// Distinct choices over all workloads.
  std::vector<kernel::TunableChoice> choices() const;
};

/// The workload at which binding failed goes to `at`.
Tried<PreparedProgram> bind_all_choices(const kernel::Program& program,
                                        const kernel::Definition& definition,
                                        const std::vector<kernel::Workload>& workloads,
                                        const kernel::HardwareProfile& device, std::string& at);

/// Only what `select` chooses.
Tried<PreparedProgram> bind_selected(const kernel::Program& program, const kernel::Select& select,
                                     const kernel::Definition& definition,
                                     const std::vector<kernel::Workload>& workloads,
                                     const kernel::HardwareProfile& device, std::string& at);

/// Compiles all plans. `trust` for an expert that links a library.
Tried<void> build(PreparedProgram& prepared, target::Target& target,
                  const target::Trust* trust = nullptr);

/// The chosen tunables of one workload, by the rules or the program's own order.
kernel::TunableChoice chosen(const PreparedProgram& prepared, const kernel::Select& select,
                             const kernel::Definition& definition, const kernel::Workload& workload,
                             const kernel::HardwareProfile& device);

/// "BK=64 BQ=32".
std::string named(const kernel::TunableChoice& choice);

/// Equal for programs that differ in comments and white space of their sources only.
std::string normalised_hash(const kernel::Program& program);

}  // namespace ksearch::evaluate
