// ksearch_mlx_worker: what is linked with MLX is a program of its own, so that ksearch is not.
//   [--json]   the self-test of the path through MLX; exit codes are ksearch's: 1 a check failed, 3
//              no MLX or no GPU
//   --state    what MLX and GPU there are, as JSON
//   serve      the worker of the measured Metal target
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "target/metal/mlx_device.h"
#include "target/metal/mlx_self_test.h"
#include "target/metal/mlx_serve.h"

namespace ksearch::target {
namespace {

/// What keeps kernels from running here and the way out; empty where nothing does.
std::string missing(const MlxState& state) {
  if (!state.built_in)
    return "built without MLX: pip install mlx into .venv (on Linux 'mlx[cpu]'), or name its "
           "share/cmake/MLX by -DMLX_DIR, and build again";
  if (!state.has_metal)
    return "no Metal device: kernels run on a Mac's GPU; here `ksearch run --target metal` runs "
           "them in the engine";
  return {};
}

base::Json to_json(const MlxState& state) {
  return {{"mlx", state.version},
          {"metal", state.has_metal},
          {"device", state.device},
          {"architecture", state.architecture},
          {"missing", missing(state)}};
}

base::Json to_json(const MlxState& state, const std::vector<MlxCheck>& checks) {
  base::Json list = base::Json::array();
  for (const MlxCheck& one : checks)
    list.push_back({{"name", one.name}, {"state", name(one.state)}, {"detail", one.detail}});
  base::Json json = to_json(state);
  json["checks"] = std::move(list);
  return json;
}

void print(const MlxState& state, const std::vector<MlxCheck>& checks) {
  fmt::print("MLX      {}\n", state.built_in ? state.version : "absent");
  fmt::print("Metal    {}\n", state.has_metal ? state.device : "no device");
  for (const MlxCheck& one : checks)
    fmt::print("{:<8} {}{}\n", name(one.state), one.name,
               one.detail.empty() ? "" : ": " + one.detail);
  if (const std::string what = missing(state); !what.empty()) fmt::print("{}\n", what);
}

int self_test(bool json) {
  const MlxState state = mlx_state();
  const std::vector<MlxCheck> checks = mlx_self_test();
  if (json)
    fmt::print("{}", base::to_text(to_json(state, checks)));
  else
    print(state, checks);
  const bool failed = std::ranges::any_of(
      checks, [](const MlxCheck& one) { return one.state == MlxCheck::State::failed; });
  return failed ? 1 : missing(state).empty() ? 0 : 3;
}

}  // namespace
}  // namespace ksearch::target

int main(int argc, char** argv) {
  using namespace ksearch::target;
  const std::string_view asked = argc == 2 ? argv[1] : "";
  if (asked == "serve") return run_mlx_worker();
  if (asked == "--state") {
    fmt::print("{}", ksearch::base::to_text(to_json(mlx_state())));
    return 0;
  }
  if (argc > 2 || (argc == 2 && asked != "--json")) {
    fmt::print(stderr, "usage: ksearch_mlx_worker [--json | --state | serve]\n");
    return 2;
  }
  return self_test(asked == "--json");
}
