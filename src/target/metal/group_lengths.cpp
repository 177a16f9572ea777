#include "target/metal/group_lengths.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>

namespace ksearch::target {
namespace {

constexpr double kAlike = 0.02;
constexpr double kOnALine = 1e-9;  // of what is measured, but for what rounding leaves
/// A launch of more has no tail to speak of.
constexpr double kMostGroups = 1e6;

std::array<double, 3> place(double number, const Grid& grid) {
  const double plane = std::floor(number / grid[0]);
  return {number - plane * grid[0], std::fmod(plane, grid[1]), std::floor(plane / grid[1])};
}

/// A length that grows evenly along each dimension.
struct Plane {
  std::array<double, 3> middle{}, gain{};
  double length = 0;  ///< in the middle
};

/// The one that is nearest to all that were measured; nothing where they do not tell.
std::optional<Plane> plane(const Grid& grid, std::span<const MeasuredGroup> measured) {
  std::vector<std::size_t> wide;
  for (std::size_t d = 0; d < 3; ++d)
    if (grid[d] > 1) wide.push_back(d);
  if (wide.empty() || wide.size() > 2 || measured.size() < wide.size() + 1) return std::nullopt;
  Plane result;
  const auto count = static_cast<double>(measured.size());
  for (const MeasuredGroup& group : measured) {
    const auto at = place(group.number, grid);
    for (std::size_t d = 0; d < 3; ++d) result.middle[d] += at[d] / count;
    result.length += group.length / count;
  }
  // Along one dimension the second is one in which nothing changes.
  const std::size_t x = wide[0], y = wide.size() > 1 ? wide[1] : (x + 1) % 3;
  double xx = 0, xy = 0, yy = wide.size() > 1 ? 0 : 1, gain_x = 0, gain_y = 0;
  for (const MeasuredGroup& group : measured) {
    const auto at = place(group.number, grid);
    const double dx = at[x] - result.middle[x], dy = at[y] - result.middle[y];
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
    gain_x += dx * (group.length - result.length);
    gain_y += dy * (group.length - result.length);
  }
  const double area = xx * yy - xy * xy;
  if (area <= kOnALine * xx * yy) return std::nullopt;
  result.gain[x] = (gain_x * yy - gain_y * xy) / area;
  result.gain[y] = (gain_y * xx - gain_x * xy) / area;
  return result;
}

/// Mean 1; nothing where all are alike.
std::vector<double> relative(std::vector<double> lengths) {
  double sum = 0;
  for (const double length : lengths) sum += length;
  const auto [least, most] = std::ranges::minmax(lengths);
  const double mean = sum / static_cast<double>(lengths.size());
  if (mean <= 0 || most - least <= kAlike * mean) return {};
  for (double& length : lengths) length /= mean;
  return lengths;
}

/// The groups of one core, which share it evenly.
class Core {
 public:
  explicit Core(const Cores& cores) : most_(cores.most) {}
  bool idle() const { return ends_.empty(); }
  void add(double now, double length) {
    advance(now);
    ends_.push(done_ + length);
  }
  void remove(double now) {
    advance(now);
    ends_.pop();
  }
  double next_end() const { return now_ + (ends_.top() - done_) / rate(); }

 private:
  double rate() const { return std::min(most_, 1 / static_cast<double>(ends_.size())); }
  void advance(double now) {
    if (!idle()) done_ += (now - now_) * rate();
    now_ = now;
  }
  double most_, now_ = 0;
  double done_ = 0;  ///< of each group that has been here all the time
  std::priority_queue<double, std::vector<double>, std::greater<>> ends_;
};

}  // namespace

std::vector<double> group_lengths(const Grid& grid, std::span<const MeasuredGroup> measured) {
  const double count = grid[0] * grid[1] * grid[2];
  if (count < 2 || count > kMostGroups || measured.size() < 2) return {};
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (measured[i].number >= count || (i > 0 && measured[i].number <= measured[i - 1].number))
      return {};
  std::vector<double> lengths;
  if (static_cast<double>(measured.size()) == count) {
    for (const MeasuredGroup& group : measured) lengths.push_back(group.length);
    return relative(std::move(lengths));
  }
  const std::optional<Plane> all = plane(grid, measured);
  if (!all) return {};
  for (double number = 0; number < count; ++number) {
    const auto at = place(number, grid);
    double length = all->length;
    for (std::size_t d = 0; d < 3; ++d) length += all->gain[d] * (at[d] - all->middle[d]);
    lengths.push_back(std::max(length, 0.0));
  }
  return relative(std::move(lengths));
}

double shared_end(std::span<const double> lengths, const Cores& cores) {
  std::vector<Core> all(static_cast<std::size_t>(cores.count), Core(cores));
  std::size_t next = 0;
  for (double round = 0; round < cores.resident; ++round)
    for (Core& core : all)
      if (next < lengths.size()) core.add(0, lengths[next++]);
  using End = std::pair<double, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (!all[c].idle()) ends.emplace(all[c].next_end(), c);
  double now = 0;
  while (!ends.empty()) {
    const std::size_t c = ends.top().second;
    now = ends.top().first;
    ends.pop();
    all[c].remove(now);
    if (next < lengths.size()) all[c].add(now, lengths[next++]);
    if (!all[c].idle()) ends.emplace(all[c].next_end(), c);
  }
  return now;
}

double lone_end(std::span<const double> lengths, const Cores& cores) {
  const auto places = static_cast<std::size_t>(cores.count * cores.resident);
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (std::size_t i = 0; i < places; ++i) free.push(0);
  double last = 0;
  for (const double length : lengths) {
    const double end = free.top() + length;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

}  // namespace ksearch::target
