// A program's plan with nothing in its kernels: what launching it costs (the floor under every
// time), and the ghost that must not pass for the program.
#pragma once

#include <optional>

#include "kernel/bind.h"

namespace ksearch::evaluate {

/// The program with sources that define every kernel of `plans`, empty. Dialect cpp; nothing for
/// others.
std::optional<kernel::Program> empty_program(const kernel::Program& program,
                                             const std::vector<kernel::BoundProgram>& plans);

}  // namespace ksearch::evaluate
