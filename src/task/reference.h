// The float64 reference of a task as something a CPU worker runs: a program of dialect `cpp` made
// of the task's reference.cpp and an entry point that serves ks_reference. So truth is computed in
// a sandboxed process, on several threads, with the same guards as any candidate. Or, where the
// task has only Python, a script in the experts' convention.
#pragma once

#include <string>
#include <vector>

#include "kernel/bind.h"
#include "task/task.h"

namespace ksearch::task {

/// The program; it takes float64 tensors.
kernel::Program reference_program(const Task& task);

/// Inputs and outputs of one workload in float64, as the worker lays them out. An `inout` input is
/// there twice: NAME, as it was, and NAME after the operation as output `NAME__after`.
/// For a script integers stay what they are: Python cannot index by float64.
std::vector<kernel::TensorShape> reference_tensors(const std::vector<kernel::TensorShape>& tensors,
                                                   bool script);

/// The name under which the reference writes what tensor `shape` holds afterwards.
std::string reference_output(const kernel::TensorShape& shape);

/// One launch of `parts` groups: part p of n does its share.
kernel::BoundProgram bind_reference(const Task& task, const kernel::Workload& workload,
                                    const std::vector<kernel::TensorShape>& tensors, int parts);

/// Wraps the task's Python (a `setup(case)` as it is; a FlashInfer-Bench `run(...)` with code that
/// calls it) as the text of a script expert.
std::string reference_script(const Task& task);

}  // namespace ksearch::task
