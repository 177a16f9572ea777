#include <set>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {

bool waits_for_lanes(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {
      "threadgroup_barrier", "simdgroup_barrier", "simdgroup_multiply",
      "simdgroup_multiply_accumulate"};
  return kNames.contains(name) || name.starts_with("simd_") || name.starts_with("quad_") ||
         name.starts_with("__metal_simd_");
}

}  // namespace ksearch::simt::msl
