// Groups of a launch that do not all do the same: how long each is, and when the last one ends.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace ksearch::target {

/// Groups in each dimension.
using Grid = std::array<double, 3>;

struct MeasuredGroup {
  double number = 0;  ///< x first, then y, then z
  double length = 0;  ///< in any unit
};

/// Of all groups of the grid in the order of their numbers, their mean being 1. Where not all were
/// measured, lengths are taken to grow evenly along each dimension. Nothing where all are within 2%
/// of each other, or where too little was measured to know.
std::vector<double> group_lengths(const Grid& grid, std::span<const MeasuredGroup> measured);

/// What runs groups: they are dealt in order, one each time that one has ended.
struct Cores {
  double count = 1;
  double resident = 1;  ///< groups at the same time on one core
  /// What one group gets of its core at most: 1, all of it.
  double most = 1;
};
/// When the last group ends, in mean lengths, where groups on a core share its throughput.
double shared_end(std::span<const double> lengths, const Cores& cores);
/// The same where each takes its own time, however many there are on the core.
double lone_end(std::span<const double> lengths, const Cores& cores);

}  // namespace ksearch::target
