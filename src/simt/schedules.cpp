#include "simt/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ksearch::simt {
namespace {

template <class T>
T at(std::string_view bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

double element(kernel::DType type, std::string_view bytes, std::size_t i) {
  using kernel::DType;
  switch (type) {
    case DType::float64:
      return at<double>(bytes, i);
    case DType::float32:
      return at<float>(bytes, i);
    case DType::float16:
      return kernel::float_from_half(at<std::uint16_t>(bytes, i));
    case DType::bfloat16:
      return kernel::float_from_bfloat16(at<std::uint16_t>(bytes, i));
    case DType::int64:
      return static_cast<double>(at<std::int64_t>(bytes, i));
    case DType::uint64:
      return static_cast<double>(at<std::uint64_t>(bytes, i));
    case DType::int32:
      return at<std::int32_t>(bytes, i);
    case DType::uint32:
      return at<std::uint32_t>(bytes, i);
    case DType::int16:
      return at<std::int16_t>(bytes, i);
    case DType::uint16:
      return at<std::uint16_t>(bytes, i);
    case DType::int8:
      return at<std::int8_t>(bytes, i);
    case DType::uint8:
    case DType::boolean:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      break;
  }
  return at<std::uint8_t>(bytes, i);
}

std::string label(const ScheduleChoice& schedule) {
  return schedule.name == "random" ? fmt::format("random:{}", schedule.seed) : schedule.name;
}

bool same_fault(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.where == b.where && a.buffer == b.buffer;
}

void merge(Report other, Report& report) {
  for (Finding& finding : other.findings)
    if (std::none_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& known) { return same_fault(known, finding); }))
      report.findings.push_back(std::move(finding));
  for (std::string& warning : other.warnings)
    if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end())
      report.warnings.push_back(std::move(warning));
}

}  // namespace

base::Result<std::vector<ScheduleChoice>> parse_schedules(std::string_view text) {
  std::vector<ScheduleChoice> schedules;
  for (;;) {
    const std::size_t comma = text.find(',');
    KS_TRY(schedules.emplace_back(), parse_schedule(text.substr(0, comma)));
    if (comma == std::string_view::npos) return schedules;
    text.remove_prefix(comma + 1);
  }
}

std::optional<Difference> difference(kernel::DType type, std::string_view first,
                                     std::string_view other) {
  if (first == other) return std::nullopt;
  Difference result;
  const std::size_t size = kernel::size_bytes(type);
  result.of = static_cast<std::int64_t>(first.size() / size);
  for (std::size_t i = 0; i * size < first.size(); ++i) {
    const double a = element(type, first, i), b = element(type, other, i);
    if (std::isfinite(a)) result.largest_value = std::max(result.largest_value, std::abs(a));
    if (first.substr(i * size, size) == other.substr(i * size, size)) continue;
    ++result.elements;
    // A NaN or an infinity on one side is as far as it gets.
    const double gap = std::abs(a - b);
    result.largest = std::isfinite(gap) ? std::max(result.largest, gap) : INFINITY;
  }
  return result;
}

std::string in_words(const Difference& difference) {
  return fmt::format(
      "{} of {} elements of {} differ under schedule {}, by {:.3g} at most (the largest value is "
      "{:.3g}): the result depends on the order in which SIMD-groups run",
      difference.elements, difference.of, difference.buffer, difference.schedule,
      difference.largest, difference.largest_value);
}

base::Result<Report> check_schedules(
    const std::vector<ScheduleChoice>& schedules, CheckOptions options,
    const std::map<std::string, kernel::DType>& types,
    const std::function<base::Result<Report>(const CheckOptions&)>& run) {
  options.schedule = schedules.front();
  KS_TRY(Report report, run(options));
  options.trace_groups = 0;
  for (std::size_t i = 1; i < schedules.size(); ++i) {
    options.schedule = schedules[i];
    KS_TRY(Report other, run(options));
    for (const auto& [name, type] : types) {
      const auto first = report.outputs.find(name), second = other.outputs.find(name);
      if (first == report.outputs.end() || second == other.outputs.end()) continue;
      auto found = difference(type, first->second, second->second);
      if (!found) continue;
      found->buffer = name;
      found->schedule = label(schedules[i]);
      report.differences.push_back(std::move(*found));
    }
    merge(std::move(other), report);
  }
  return report;
}

}  // namespace ksearch::simt
