#include "simt/engine/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/random.h"

namespace ksearch::simt {
namespace {

/// Each stratum would have one group whatever its size.
constexpr std::uint32_t kTooFewForStrata = 8;

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

/// 0 .. 1 in each stretch: by chance, so that no period of the work meets ours; every second one
/// mirrored and a lone one in the middle, so that work that grows along a dimension averages out.
class Within {
 public:
  Within(std::uint64_t count, base::Random& random) : count_(count), random_(random) {}
  double next() {
    const bool lone = i_ + 1 == count_ && count_ % 2 == 1;
    last_ = lone ? 0.5 : i_ % 2 == 0 ? random_.unit() : 1 - last_;
    ++i_;
    return last_;
  }

 private:
  std::uint64_t count_, i_ = 0;
  base::Random& random_;
  double last_ = 0;
};

std::uint32_t place(double part, std::uint32_t size) {
  return std::min(static_cast<std::uint32_t>(part * size), size - 1);
}

std::uint32_t number(const std::array<std::uint64_t, 3>& at,
                     const std::array<std::uint32_t, 3>& groups) {
  return static_cast<std::uint32_t>((at[2] * groups[1] + at[1]) * groups[0] + at[0]);
}

/// Few of many: one of each stretch of half the longest dimension, the others as golden ratios
/// fall, and for each its mirror image in all dimensions, so that work that grows along any
/// averages out. A lone one is in the middle. None is chosen twice.
void add_pairs(const std::array<Span, 3>& spans, std::size_t longest, std::uint64_t count,
               std::array<std::uint32_t, 3> groups, base::Random& random,
               std::vector<SampledGroup>& sample) {
  constexpr std::array<double, 3> kSteps{0, 0.7548776662466927, 0.5698402909980532};
  const double weight = static_cast<double>(spans[0].size) * spans[1].size * spans[2].size /
                        static_cast<double>(count);
  const std::uint64_t size = spans[longest].size, pairs = count / 2;
  const std::uint64_t half = (size - (count % 2 == 1 ? size / count : 0)) / 2;
  for (std::uint64_t i = 0; i < (count + 1) / 2; ++i) {
    const bool lone = 2 * i + 1 == count;
    const auto n = static_cast<double>(i);
    std::array<std::uint64_t, 3> at{}, mirrored{};
    for (std::size_t d = 0; d < 3; ++d) {
      const double turned = 0.5 + n * kSteps[(d + 3 - longest) % 3];
      std::uint64_t index = place(lone ? 0.5 : turned - std::floor(turned), spans[d].size);
      if (!lone && d == longest) {
        const std::uint64_t start = i * half / pairs, end = (i + 1) * half / pairs;
        index = start + place(random.unit(), static_cast<std::uint32_t>(end - start));
      }
      at[d] = spans[d].start + index;
      mirrored[d] = spans[d].start + spans[d].size - 1 - index;
    }
    sample.push_back({number(at, groups), weight});
    if (!lone) sample.push_back({number(mirrored, groups), weight});
  }
}

/// The corner that is furthest from the line through a pair.
void add_corner(const std::array<std::uint32_t, 3>& groups, std::vector<SampledGroup>& sample) {
  std::vector<std::size_t> wide;
  for (std::size_t d = 0; d < 3; ++d)
    if (groups[d] > 1) wide.push_back(d);
  if (wide.size() != 2) return;
  const std::size_t x = wide[0], y = wide[1];
  const auto signed_position = [&](std::uint32_t n) {
    const auto at = position(n, groups);
    return std::array<std::int64_t, 3>{at[0], at[1], at[2]};
  };
  const auto a = signed_position(sample[0].number), b = signed_position(sample[1].number);
  std::int64_t furthest = 0;
  std::array<std::uint64_t, 3> corner{};
  for (const std::uint64_t at_x : {std::uint64_t{0}, std::uint64_t{groups[x] - 1}})
    for (const std::uint64_t at_y : {std::uint64_t{0}, std::uint64_t{groups[y] - 1}}) {
      const std::int64_t area = std::abs((b[x] - a[x]) * (static_cast<std::int64_t>(at_y) - a[y]) -
                                         (b[y] - a[y]) * (static_cast<std::int64_t>(at_x) - a[x]));
      if (area <= furthest) continue;
      furthest = area;
      corner[x] = at_x;
      corner[y] = at_y;
    }
  const std::uint32_t n = number(corner, groups);
  if (furthest > 0 && n != sample[0].number && n != sample[1].number) sample.push_back({n, 0});
}

/// One of each stretch of all, counted through.
void add_stratum(const std::array<Span, 3>& spans, std::uint64_t count,
                 std::array<std::uint32_t, 3> groups, base::Random& random,
                 std::vector<SampledGroup>& sample) {
  const std::uint64_t size = std::uint64_t{spans[0].size} * spans[1].size * spans[2].size;
  const auto longest =
      static_cast<std::size_t>(std::ranges::max_element(spans, {}, &Span::size) - spans.begin());
  if (count <= spans[longest].size) return add_pairs(spans, longest, count, groups, random, sample);
  Within within(count, random);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t start = i * size / count, length = (i + 1) * size / count - start;
    const std::uint64_t k = start + place(within.next(), static_cast<std::uint32_t>(length));
    sample.push_back({number({spans[0].start + k % spans[0].size,
                              spans[1].start + k / spans[0].size % spans[1].size,
                              spans[2].start + k / spans[0].size / spans[1].size},
                             groups),
                      static_cast<double>(length)});
  }
}

}  // namespace

std::array<std::uint32_t, 3> position(std::uint32_t number,
                                      const std::array<std::uint32_t, 3>& groups) {
  return {number % groups[0], number / groups[0] % groups[1], number / groups[0] / groups[1]};
}

std::vector<SampledGroup> sample_groups(std::array<std::uint32_t, 3> groups, std::uint32_t most,
                                        std::uint64_t seed) {
  const std::uint64_t all = std::uint64_t{groups[0]} * groups[1] * groups[2];
  std::vector<SampledGroup> sample;
  if (most == 0 || most >= all) {
    for (std::uint64_t i = 0; i < all; ++i) sample.push_back({static_cast<std::uint32_t>(i), 1});
    return sample;
  }
  base::Random random(seed);
  if (most <= kTooFewForStrata) {
    add_stratum({Span{0, groups[0]}, Span{0, groups[1]}, Span{0, groups[2]}}, most, groups, random,
                sample);
    if (sample.size() == 2) add_corner(groups, sample);
    std::ranges::sort(sample, {}, &SampledGroup::number);
    return sample;
  }
  for (const Span& z : parts_of(groups[2]))
    for (const Span& y : parts_of(groups[1]))
      for (const Span& x : parts_of(groups[0])) {
        const std::uint64_t size = std::uint64_t{x.size} * y.size * z.size;
        const auto part = static_cast<double>(size) * most / static_cast<double>(all);
        const std::uint64_t count =
            std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::lround(part)), 1, size);
        add_stratum({x, y, z}, count, groups, random, sample);
      }
  std::sort(sample.begin(), sample.end(),
            [](const SampledGroup& a, const SampledGroup& b) { return a.number < b.number; });
  return sample;
}

}  // namespace ksearch::simt
