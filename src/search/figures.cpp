#include "search/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::search {

const std::vector<kernel::WorkloadTiming>& timings_of(const kernel::Outcome& outcome) {
  static const std::vector<kernel::WorkloadTiming> kNone;
  if (const auto* m = std::get_if<kernel::Measured>(&outcome.verdict)) return m->workloads;
  if (const auto* m = std::get_if<kernel::Modelled>(&outcome.verdict)) return m->workloads;
  return kNone;
}

std::optional<kernel::Ratio> ratio_to(const kernel::Outcome& outcome, std::string_view baseline) {
  const auto find = [&](const auto* timed) -> std::optional<kernel::Ratio> {
    if (!timed) return std::nullopt;
    const auto it = timed->ratios.find(std::string(baseline));
    if (it == timed->ratios.end()) return std::nullopt;
    return it->second;
  };
  const auto measured = find(std::get_if<kernel::Measured>(&outcome.verdict));
  return measured ? measured : find(std::get_if<kernel::Modelled>(&outcome.verdict));
}

std::string expert_names(const kernel::Outcome& outcome) {
  std::vector<std::string> names;
  for (const kernel::WorkloadTiming& timing : timings_of(outcome)) {
    if (timing.expert.empty() || std::ranges::find(names, timing.expert) != names.end()) continue;
    names.push_back(timing.expert);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_modelled(const kernel::Outcome& outcome) {
  return std::holds_alternative<kernel::Modelled>(outcome.verdict);
}

}  // namespace ksearch::search
