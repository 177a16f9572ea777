// ksearch_mlx_worker [--json]: the self-test of the path through MLX. A program of its own, so that
// ksearch is not linked with MLX. Exit codes are ksearch's: 1 a check failed, 3 no MLX or no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "target/metal/mlx_device.h"
#include "target/metal/mlx_self_test.h"

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

base::Json to_json(const MlxState& state, const std::vector<MlxCheck>& checks) {
  base::Json list = base::Json::array();
  for (const MlxCheck& one : checks)
    list.push_back({{"name", one.name}, {"state", name(one.state)}, {"detail", one.detail}});
  return {{"mlx", state.version},
          {"metal", state.has_metal},
          {"device", state.device},
          {"missing", missing(state)},
          {"checks", std::move(list)}};
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
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: ksearch_mlx_worker [--json]\n");
    return 2;
  }
  return ksearch::target::self_test(json);
}
