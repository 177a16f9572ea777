// One launch of a plan of dialect mlx, as a call of a kernel in Python.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"
#include "kernel/definition.h"
#include "kernel/hardware.h"
#include "kernel/program.h"

namespace ksearch::formats {

class MlxLaunches {
 public:
  MlxLaunches(const kernel::Program& program, const kernel::Definition& definition,
              const kernel::HardwareProfile& device)
      : program_(program), definition_(definition), device_(device) {}

  /// Statements, indented by four; outputs and scratch become variables of their names.
  base::Result<std::string> code(const kernel::Launch& launch);
  /// An expression of the plan in Python.
  std::string python(const kernel::Expr& expr) const;
  /// "(B, H, 1)": a tuple.
  std::string tuple(const std::vector<kernel::Expr>& list) const;
  /// Kernels that `code` was asked for.
  const std::set<std::string>& kernels() const { return kernels_; }

 private:
  std::string scalar(const kernel::ScalarArg& scalar) const;
  std::string call(const kernel::Launch& launch, const MlxCall& all) const;
  std::string grid(const kernel::Launch& launch) const;
  std::string macros(const kernel::Launch& launch) const;

  const kernel::Program& program_;
  const kernel::Definition& definition_;
  const kernel::HardwareProfile& device_;
  std::set<std::string> kernels_;
};

}  // namespace ksearch::formats
