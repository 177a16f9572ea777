// A program of dialect metal or mlx with a workload of its task, as cases for `check`.
#pragma once

#include <optional>

#include "cli/commands.h"
#include "simt/program_case.h"

namespace ksearch::cli {

/// Nothing where `options.file` is no program: neither a folder with a program.json nor a file
/// whose "format" is ksearch.program/1.
base::Result<std::optional<simt::ProgramCases>> program_cases(const Context& context,
                                                              const CheckOptions& options);

/// What mx.fast.metal_kernel would hand to Apple's compiler for the launches of the program
/// `options.file` on all of its task's workloads, as files in the folder `options.metal_files`;
/// their names are printed. The header of ours that they include (mlx_utils.h) stands for MLX's.
base::Result<void> write_metal_files(const Context& context, const CheckOptions& options);

}  // namespace ksearch::cli
