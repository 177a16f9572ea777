#include "evaluate/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace ksearch::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Two-sided 95% points of Student's t for 1 to 4 degrees of freedom.
constexpr std::array<double, 4> kStudent{12.706, 4.303, 3.182, 2.776};
constexpr std::size_t kFirstWithOrderInterval = 6;  // 1 - 2 * 0.5^6 = 0.969; with five it is 0.9375
constexpr double kMostDrift = 0.8;                  // an interval three times as wide

/// P(X <= k) for X binomial(n, 1/2), by logarithms: n may be large.
double binomial_half_cdf(int n, int k) {
  double sum = 0;
  for (int i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) -
                    n * std::log(2.0));
  return sum;
}

/// How far, in order statistics from the ends, the 95% interval of a median of n reaches: `depth`
/// whole ones (1: the extremes) and `part` of the way to the next.
struct Reach {
  int depth = 1;
  double part = 0;
};

Reach reach(int n) {
  // Coverage of [x(d), x(n + 1 - d)] is 1 - 2 P(X <= d - 1).
  int d = 1;
  while (d + 1 <= n / 2 && 1 - 2 * binomial_half_cdf(n, d) >= 0.95) ++d;
  const double wide = 1 - 2 * binomial_half_cdf(n, d - 1);
  const double narrow = 1 - 2 * binomial_half_cdf(n, d);
  const double i = (wide - 0.95) / (wide - narrow);
  return {d, (n - d) * i / (d + (n - 2 * d) * i)};
}

/// Two-sided 95% point of Student's t: the table, or beyond it Cornish and Fisher's expansion
/// (error under 0.01 from five degrees of freedom on).
double student(std::size_t freedom) {
  if (freedom == 0) return kInfinity;
  if (freedom <= kStudent.size()) return kStudent[freedom - 1];
  const double z = 1.959964, n = static_cast<double>(freedom);
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

struct Moments {
  double mean = 0, squares = 0;  // squares about the mean
};

Moments moments(const std::vector<double>& samples) {
  Moments m;
  for (const double s : samples) m.mean += s / static_cast<double>(samples.size());
  for (const double s : samples) m.squares += (s - m.mean) * (s - m.mean);
  return m;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> rank(values.size());
  for (std::size_t at = 0; at < order.size(); ++at) rank[order[at]] = static_cast<double>(at);
  return rank;
}

/// Pairs of a noisy minute resemble their neighbours and say less than as many independent ones: an
/// interval widens by sqrt((1 + r) / (1 - r)), r the correlation of neighbours. What the order
/// (A B, B A) does is taken off first; ranks, so that one wild batch does not hide the rest.
double widening_by_drift(const std::vector<double>& pairs) {
  const std::size_t n = pairs.size();
  if (n < kFirstWithOrderInterval) return 1;  // Student's t of so few is wide as it is
  std::vector<double> forth, back;
  for (std::size_t i = 0; i < n; ++i) (i % 2 == 0 ? forth : back).push_back(pairs[i]);
  const double usual[2] = {median(std::move(forth)), median(std::move(back))};
  std::vector<double> rest;
  for (std::size_t i = 0; i < n; ++i) rest.push_back(pairs[i] - usual[i % 2]);
  const std::vector<double> rank = ranks(rest);
  const double middle = static_cast<double>(n - 1) / 2;
  double squares = 0, neighbours = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += (rank[i] - middle) * (rank[i] - middle);
    if (i > 0) neighbours += (rank[i - 1] - middle) * (rank[i] - middle);
  }
  // The estimate is too low by about 1/n.
  const double r = std::clamp(neighbours / squares + 1 / static_cast<double>(n), 0.0, kMostDrift);
  return std::sqrt((1 + r) / (1 - r));
}

kernel::Ratio pooled_ratio(const std::vector<double>& baseline,
                           const std::vector<double>& program) {
  const Moments b = moments(baseline), p = moments(program);
  const auto nb = static_cast<double>(baseline.size()), np = static_cast<double>(program.size());
  const std::size_t freedom = baseline.size() + program.size() - 2;
  const double value = b.mean - p.mean;
  double half = kInfinity;
  if (freedom > 0)
    half = student(freedom) *
           std::sqrt((b.squares + p.squares) / static_cast<double>(freedom) * (1 / nb + 1 / np));
  return {std::exp(value), std::exp(value - half), std::exp(value + half),
          static_cast<int>(std::min(baseline.size(), program.size()))};
}

}  // namespace

double median(std::vector<double> samples) {
  KS_CHECK(!samples.empty(), "a median needs a sample");
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

Interval location(std::vector<double> samples) {
  KS_CHECK(!samples.empty(), "an interval needs a sample");
  const std::size_t n = samples.size();
  if (n == 1) return {samples[0], -kInfinity, kInfinity};
  if (n < kFirstWithOrderInterval) {
    const auto count = static_cast<double>(n);
    const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
    double squares = 0;
    for (const double s : samples) squares += (s - mean) * (s - mean);
    const double half = student(n - 1) * std::sqrt(squares / (count - 1) / count);
    return {mean, mean - half, mean + half};
  }
  std::sort(samples.begin(), samples.end());
  const Reach r = reach(static_cast<int>(n));
  const auto d = static_cast<std::size_t>(r.depth);
  const double low = samples[d - 1] + r.part * (samples[d] - samples[d - 1]);
  const double high = samples[n - d] + r.part * (samples[n - d - 1] - samples[n - d]);
  return {median(std::move(samples)), low, high};
}

kernel::Ratio paired_ratio(std::span<const double> baseline_ns,
                           std::span<const double> program_ns) {
  KS_CHECK(baseline_ns.size() == program_ns.size() && !program_ns.empty(),
           "ratios come from pairs");
  std::vector<double> logs;
  for (std::size_t i = 0; i < program_ns.size(); ++i) {
    KS_CHECK(baseline_ns[i] > 0 && program_ns[i] > 0, "times are positive");
    logs.push_back(std::log(baseline_ns[i] / program_ns[i]));
  }
  const double wider = widening_by_drift(logs);
  const Interval at = location(std::move(logs));
  return {std::exp(at.value), std::exp(at.value - wider * (at.value - at.low)),
          std::exp(at.value + wider * (at.high - at.value)), static_cast<int>(program_ns.size())};
}

kernel::Ratio unpaired_ratio(std::span<const double> baseline_ns,
                             std::span<const double> program_ns) {
  const auto logs = [](std::span<const double> times) {
    std::vector<double> l;
    for (const double t : times) l.push_back(std::log(t));
    return l;
  };
  if (std::min(baseline_ns.size(), program_ns.size()) < kFirstWithOrderInterval)
    return pooled_ratio(logs(baseline_ns), logs(program_ns));
  const Interval b = location(logs(baseline_ns)), p = location(logs(program_ns));
  const double value = b.value - p.value;
  const double down = std::hypot(b.value - b.low, p.high - p.value);
  const double up = std::hypot(b.high - b.value, p.value - p.low);
  return {std::exp(value), std::exp(value - down), std::exp(value + up),
          static_cast<int>(std::min(baseline_ns.size(), program_ns.size()))};
}

kernel::Ratio geometric_mean(std::span<const kernel::Ratio> ratios) {
  KS_CHECK(!ratios.empty(), "a mean needs a ratio");
  double sum = 0, down = 0, up = 0;
  int pairs = ratios[0].pairs;
  for (const kernel::Ratio& r : ratios) {
    sum += std::log(r.value);
    down = std::hypot(down, std::log(r.value) - std::log(r.low));
    up = std::hypot(up, std::log(r.high) - std::log(r.value));
    pairs = std::min(pairs, r.pairs);
  }
  const auto n = static_cast<double>(ratios.size());
  return {std::exp(sum / n), std::exp((sum - down) / n), std::exp((sum + up) / n), pairs};
}

std::optional<kernel::Ratio> mean_ratio(std::span<const kernel::WorkloadTiming> workloads,
                                        const std::string& to) {
  std::vector<kernel::Ratio> ratios;
  for (const kernel::WorkloadTiming& w : workloads) {
    const auto r = w.ratios.find(to);
    if (r == w.ratios.end()) return std::nullopt;
    ratios.push_back(r->second);
  }
  if (ratios.empty()) return std::nullopt;
  return geometric_mean(ratios);
}

}  // namespace ksearch::evaluate
