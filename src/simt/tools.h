// The tools that kernels are linked and looked into with. A build for another machine (its tests
// run under an emulator) takes that machine's, which run here.
#pragma once

#include <string>
#include <string_view>

namespace ksearch::simt {

#ifdef KSEARCH_CROSS
inline constexpr std::string_view kCross = KSEARCH_CROSS;  ///< "aarch64-linux-gnu"
#else
inline constexpr std::string_view kCross;
#endif

/// "/usr/bin/ld" of "ld".
inline std::string tool(std::string_view name) {
  return "/usr/bin/" + std::string(kCross) + (kCross.empty() ? "" : "-") + std::string(name);
}

}  // namespace ksearch::simt
