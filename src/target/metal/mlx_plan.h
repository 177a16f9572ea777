// A bound program of dialect mlx as work for MLX.
#pragma once

#include "base/result.h"
#include "kernel/bind.h"
#include "target/metal/mlx_work.h"

namespace ksearch::target {

/// The source of kernel K is K.metal, its header K.h; macros stand before the header; numbers are
/// inputs of no dimension. As in `export --as mlx-python`, what a launch writes is a new array. An
/// error names what a launch asks for that MLX has not (offsets, parameter structs, input written
/// in place).
base::Result<MlxWork> mlx_work_of(const kernel::Program& program, const kernel::BoundProgram& plan,
                                  const std::vector<kernel::TensorShape>& tensors);

}  // namespace ksearch::target
