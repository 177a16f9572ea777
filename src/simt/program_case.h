// A program of dialect metal or mlx, bound to a workload, as cases that `check` runs.
#pragma once

#include <set>

#include "kernel/bind.h"
#include "simt/case.h"

namespace ksearch::simt {

/// A tensor of the workload with its contents; outputs have none.
struct ProgramTensor {
  std::string name;
  kernel::DType dtype = kernel::DType::float32;
  std::vector<std::int64_t> shape;
  Role role = Role::in;
  std::string bytes;
};

struct ProgramCases {
  std::vector<Case> cases;  ///< for check_sequence, one a launch
  std::set<std::string> scratch;
};

/// Metal: `instantiate` gives the template arguments in order, arguments are buffers in order. MLX:
/// the source of kernel K is K.metal, its header K.h; numbers are inputs of no dimension. An error
/// names what a launch asks for that is not run here (offsets, null pointers).
base::Result<ProgramCases> cases_of_program(const kernel::Program& program,
                                            const kernel::BoundProgram& bound,
                                            const std::vector<ProgramTensor>& tensors);

}  // namespace ksearch::simt
