// What the exports of programs of dialect mlx refuse in any language.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/mlx_export.h"

namespace ksearch::formats {

/// An error where MLX cannot have the program: another dialect, an argument updated in place, a
/// dtype that it lacks, a launch that adds to what another wrote; or where a text is none. `form`
/// is for the message: "mlx-python".
base::Result<void> check_mlx_request(const MlxExportRequest& request, std::string_view form);

}  // namespace ksearch::formats
