// A program of dialect mlx as one Python file that needs MLX alone: a function with the task's
// signature. The launch plan becomes code; kernels are built once; the tunables that were selected
// are chosen by shape.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// The file's text. An error where the program cannot be had so: another dialect, an offset, a
/// dtype that MLX lacks.
base::Result<std::string> export_mlx_python(const MlxExportRequest& request);

}  // namespace ksearch::formats
