#include "target/metal/model_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace ksearch::target {
namespace {
using base::Json;

double without(const ModelledLaunch& launch, bool memory) {
  double sum = 0;
  for (const TimeTerm& term : launch.terms)
    if (memory == (term.name == "issue" || term.name == "latency"))
      sum += std::pow(term.seconds, kTermNorm);
  return std::pow(sum, 1 / kTermNorm);
}

/// What costs most of `parts`, two at most.
std::string two_largest(const std::map<std::string, double>& parts) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [what, cost] : parts) order.emplace_back(cost, what);
  std::ranges::sort(order, std::greater<>());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 2); ++i)
    if (order[i].first > 0) text += (i ? ", " : "") + order[i].second;
  return text;
}

/// Three digits, and no exponent: what is long has more.
std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 999.5 ? fmt::format("{:.3g}", us) : fmt::format("{:.0f}", us);
}

}  // namespace

double number(const Json& json, const char* key) {
  return json.is_object() ? json.value(key, 0.0) : 0;
}

/// Its part, or an empty one.
const Json& part(const Json& json, const char* key) {
  static const Json kEmpty;
  if (!json.is_object()) return kEmpty;
  const auto found = json.find(key);
  return found == json.end() ? kEmpty : *found;
}

std::vector<std::pair<std::string, double>> issue_shares(const GpuProfile& gpu, const Json& trace) {
  std::map<std::string, double> cycles;
  double all = 0;
  const auto count = [&](const std::string& kind, double cost) {
    cycles[kind] += cost;
    all += cost;
  };
  for (const auto& [kind, runs] : part(trace, "operations").items())
    count(kind, number(runs, "simdgroups") * issue_cycles(gpu, kind));
  for (const Json& place : part(trace, "places"))
    for (const Json& access : part(place, "accesses"))
      count(access.value("store", false) ? "stores" : "loads", number(access, "requests"));
  std::vector<std::pair<std::string, double>> shares;
  for (const auto& [kind, cost] : cycles)
    if (cost >= 0.01 * all && cost > 0) shares.emplace_back(kind, cost / all);
  std::ranges::stable_sort(shares, std::greater<>(), &std::pair<std::string, double>::second);
  return shares;
}

std::vector<LineCost> largest_costs(const GpuProfile& gpu, const Json& trace, bool memory) {
  std::vector<LineCost> costs;
  double all = 0;
  for (const Json& place : part(trace, "places")) {
    std::map<std::string, double> parts;
    for (const auto& [kind, runs] : part(place, "operations").items())
      if (!memory) parts[kind] += number(runs, "simdgroups") * issue_cycles(gpu, kind);
    for (const Json& access : part(place, "accesses")) {
      const std::string what =
          (access.value("store", false) ? "stores to " : "loads of ") + access.value("buffer", "");
      parts[what] += !memory ? number(access, "requests")
                             : 128 * (number(access, "lines") + number(access, "turns"));
    }
    double sum = 0;
    for (const auto& [what, cost] : parts) sum += cost;
    all += sum;
    costs.push_back({place.value("file", ""), place.value("line", 0), sum, two_largest(parts)});
  }
  std::ranges::stable_sort(costs, std::greater<>(), &LineCost::share);
  if (costs.size() > 3) costs.resize(3);
  for (LineCost& cost : costs) cost.share = all > 0 ? cost.share / all : 0;
  std::erase_if(costs, [](const LineCost& cost) { return cost.share < 0.02; });
  return costs;
}

std::string describe(const ModelledProgram& program) {
  if (program.launches.empty()) return {};
  const ModelledLaunch& longest =
      *std::ranges::max_element(program.launches, {}, &ModelledLaunch::seconds);
  std::string text = fmt::format("bound by {}", longest.bottleneck);
  std::vector<std::string> terms;
  for (const TimeTerm& term : longest.terms)
    terms.push_back(fmt::format("{} {}", term.name, microseconds(term.seconds)));
  text += fmt::format(" (us: {})", fmt::join(terms, ", "));
  text += fmt::format("; {:.0f} SIMD-groups resident on a core, limited by {}",
                      longest.resident_simdgroups, longest.occupancy_limit);
  if (longest.half_registers > 0)
    text += fmt::format(" ({} registers of 16 bits a thread{}{})", longest.half_registers,
                        longest.spilled_bytes > 0
                            ? fmt::format("; {:.0f} is all it can have, {:.3g} MB are spilled",
                                          kMostRegisters, longest.spilled_bytes / 1e6)
                            : "",
                        longest.next_registers >= 16
                            ? fmt::format("; {} would allow {:.0f} SIMD-groups",
                                          longest.next_registers, longest.next_simdgroups)
                            : "");
  if (longest.unevenness > 1.02)
    text += fmt::format(
        "; groups differ in length, the core that ends last takes {:.2f} times what "
        "it would if they did not",
        longest.unevenness);
  std::vector<std::string> kinds;
  for (const auto& [kind, share] : longest.kinds)
    kinds.push_back(fmt::format("{} {:.0f}%", kind, 100 * share));
  if (!kinds.empty()) text += fmt::format("; issue: {}", fmt::join(kinds, ", "));
  for (const LineCost& cost : longest.costs)
    text += fmt::format("; {}:{} {:.0f}% ({})", cost.file, cost.line, 100 * cost.share, cost.what);
  text += fmt::format("; without memory traffic {} us, without arithmetic {} us",
                      microseconds(without(longest, true)), microseconds(without(longest, false)));
  return text;
}

}  // namespace ksearch::target
