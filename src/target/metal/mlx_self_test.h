// What of the path through MLX works on this machine, found out by small programs whose results are
// known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksearch::target {

struct MlxCheck {
  enum class State { passed, failed, skipped };
  std::string name;
  State state = State::passed;
  std::string detail;  ///< why not, or a time
};
std::string_view name(MlxCheck::State state);

/// Those that need a Metal device are skipped without one, all are without MLX.
std::vector<MlxCheck> mlx_self_test();

}  // namespace ksearch::target
