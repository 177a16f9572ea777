// Which groups of a launch are traced, and for how many each of them stands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ksearch::simt {

struct SampledGroup {
  std::uint32_t number = 0;  ///< x first, then y, then z
  /// 0: how long it is, and nothing else.
  double weight = 1;
};

/// Where the group of a number stands in the grid.
std::array<std::uint32_t, 3> position(std::uint32_t number,
                                      const std::array<std::uint32_t, 3>& groups);

/// Up to 8: spread evenly over the grid. Beside two stands a third of weight 0, if the grid has two
/// dimensions: with it a length that grows along both is known everywhere. More are a sample in
/// strata: in each dimension the first, the last and those between, so that corners, edges and the
/// interior each have their part, in proportion to their sizes and at least one. Within a stratum
/// one of each stretch of the same length, chosen by the seed. In order of number; all groups where
/// `most` is no less than there are, or 0.
std::vector<SampledGroup> sample_groups(std::array<std::uint32_t, 3> groups, std::uint32_t most,
                                        std::uint64_t seed);

}  // namespace ksearch::simt
