#include "simt/engine/sample.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace ksearch::simt {
namespace {

/// Indices of one dimension.
struct Span {
  std::uint32_t start = 0, size = 0;
};

std::vector<Span> parts_of(std::uint32_t size) {
  if (size <= 1) return {{0, size}};
  std::vector<Span> parts{{0, 1}, {size - 1, 1}};
  if (size > 2) parts.push_back({1, size - 2});
  return parts;
}

}  // namespace

std::vector<SampledGroup> sample_groups(std::array<std::uint32_t, 3> groups, std::uint32_t most,
                                        std::uint64_t seed) {
  const std::uint64_t all = std::uint64_t{groups[0]} * groups[1] * groups[2];
  std::vector<SampledGroup> sample;
  if (most == 0 || most >= all) {
    for (std::uint64_t i = 0; i < all; ++i) sample.push_back({static_cast<std::uint32_t>(i), 1});
    return sample;
  }
  base::Random random(seed);
  for (const Span& z : parts_of(groups[2]))
    for (const Span& y : parts_of(groups[1]))
      for (const Span& x : parts_of(groups[0])) {
        const std::uint64_t size = std::uint64_t{x.size} * y.size * z.size;
        const auto part = static_cast<double>(size) * most / static_cast<double>(all);
        const std::uint64_t count =
            std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::lround(part)), 1, size);
        // One of each stretch: by chance, so that no period of the work meets ours; every second
        // one mirrored, so that work that grows along a dimension averages out.
        double within = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
          within = i % 2 == 0 ? random.unit() : 1 - within;
          const std::uint64_t start = i * size / count, length = (i + 1) * size / count - start;
          const std::uint64_t at =
              start + std::min(static_cast<std::uint64_t>(within * static_cast<double>(length)),
                               length - 1);
          const std::uint64_t gx = x.start + at % x.size, gy = y.start + at / x.size % y.size,
                              gz = z.start + at / x.size / y.size;
          sample.push_back({static_cast<std::uint32_t>((gz * groups[1] + gy) * groups[0] + gx),
                            static_cast<double>(length)});
        }
      }
  std::sort(sample.begin(), sample.end(),
            [](const SampledGroup& a, const SampledGroup& b) { return a.number < b.number; });
  return sample;
}

}  // namespace ksearch::simt
