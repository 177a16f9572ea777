// Work for MLX as JSON, for the process that is linked with it.
#pragma once

#include "base/json.h"
#include "target/metal/mlx_work.h"

namespace ksearch::target {

base::Json to_json(const MlxWork& work);
/// What to_json made; throws on anything else, as it comes from our own parent.
MlxWork parse_mlx_work(const base::Json& json);

std::string_view name(MlxOperation operation);
std::optional<MlxOperation> parse_mlx_operation(std::string_view name);

}  // namespace ksearch::target
