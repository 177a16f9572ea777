// In place of mlx_device.cpp where CMake found no MLX: says what is missing.
#include "target/metal/mlx_device.h"

namespace ksearch::target {
namespace {

std::unexpected<base::Error> absent() {
  return base::environment_error(
      "MLX", "this ksearch was built without it",
      "pip install mlx into .venv (or name its share/cmake/MLX by -DMLX_DIR), then build again");
}

}  // namespace

MlxState mlx_state() { return {}; }

base::Result<std::unique_ptr<MlxRunner>> make_mlx_runner(MlxWork, const MlxDispatch*) {
  return absent();
}

base::Result<MlxAnswer> run_on_mlx(const MlxWork&, const MlxTiming&) { return absent(); }

}  // namespace ksearch::target
