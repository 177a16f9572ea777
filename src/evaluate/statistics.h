// Medians, ratios and their 95% intervals from timed batches.
//
// The host is noisy and the noise is lopsided, so the figures are medians and the intervals rest on
// order statistics, which assume nothing of the distribution; where neighbours resemble each other
// (the host drifts) the interval of a ratio widens.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel/outcome.h"

namespace ksearch::evaluate {

struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Median of at least one sample.
double median(std::vector<double> samples);

/// The median with its 95% interval: from six samples on by interpolated order statistics
/// (Hettmansperger and Sheather 1986); below, where no two order statistics cover 95%, the mean
/// with Student's t, which is honest about how little two to five samples say. One sample: an
/// infinite interval.
Interval location(std::vector<double> samples);

/// baseline / program from interleaved pairs, A B and B A in turns, in the order of time: the
/// location of the logarithms, wider where neighbouring pairs are correlated.
kernel::Ratio paired_ratio(std::span<const double> baseline_ns, std::span<const double> program_ns);

/// The same for batches that were not interleaved: each median's own interval, in quadrature; where
/// one side has under six samples, the difference of the means with the variance pooled (two-sample
/// t).
kernel::Ratio unpaired_ratio(std::span<const double> baseline_ns,
                             std::span<const double> program_ns);

/// Geometric mean of ratios; intervals, which are independent, in quadrature on the logarithmic
/// scale. `pairs` is the smallest one's.
kernel::Ratio geometric_mean(std::span<const kernel::Ratio> ratios);

/// Geometric mean of the ratios to one of "naive", "expert", "parent"; none where a workload has
/// none.
std::optional<kernel::Ratio> mean_ratio(std::span<const kernel::WorkloadTiming> workloads,
                                        const std::string& to);

}  // namespace ksearch::evaluate
