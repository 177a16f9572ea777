// A program's plan with nothing in its kernels: what launching it costs (the floor under every
// time), and the ghost that must not pass for the program.
#pragma once

#include <optional>
#include <string_view>

#include "kernel/bind.h"

namespace ksearch::evaluate {

/// Of a kernel of dialect mlx that does nothing.
inline constexpr std::string_view kEmptyBody = "// Nothing.\n";

/// The program with sources that define every kernel of `plans`, empty. Nothing where that cannot
/// be had: whole functions of CUDA and Metal, structs as arguments.
std::optional<kernel::Program> empty_program(const kernel::Program& program,
                                             const std::vector<kernel::BoundProgram>& plans);

}  // namespace ksearch::evaluate
