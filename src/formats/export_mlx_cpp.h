// A program of dialect mlx as one C++ header that needs MLX alone. In namespace NAME_mlx it has a
// function NAME with the task's signature: inputs, then axes that no input has, params, optional
// inputs, a stream. Kernels are built once; the tunables that were selected are chosen by shape.
#pragma once

#include <string>

#include "base/result.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// The header's text; an error where MLX cannot have the program. The request's `reference` is C++:
/// a function `reference` that may say `mx::`.
base::Result<std::string> export_mlx_cpp(const MlxExportRequest& request);

}  // namespace ksearch::formats
