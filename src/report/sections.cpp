#include "report/sections.h"

#include <fmt/format.h>

#include "base/counted.h"
#include "report/numbers.h"

namespace ksearch::report {
namespace {

using base::Json;

constexpr int kFinding = 29;  // column of what a check found

}  // namespace

std::string workloads_table(const Style& style,
                            const std::vector<kernel::WorkloadTiming>& timings) {
  std::vector<std::vector<std::string>> rows{
      {"  workload", "time", "/naive", "/expert", "best expert", "of ceiling", "tunables"}};
  for (const kernel::WorkloadTiming& t : timings) {
    const auto ratio = [&](const char* to) {
      const auto found = t.ratios.find(to);
      return found == t.ratios.end() ? std::string() : ratio_text(found->second.value);
    };
    std::string tunables;
    for (const auto& [name, value] : t.tunables)
      tunables += fmt::format("{}{}={}", tunables.empty() ? "" : " ", name, value);
    const std::string ceiling =
        t.roofline_fraction > 0
            ? fmt::format("{} {}", percent_text(t.roofline_fraction), printable(style, t.bound_by))
            : "";
    rows.push_back({"  " + printable(style, t.workload), time_text(t.median_ns), ratio("naive"),
                    ratio("expert"), printable(style, t.expert), ceiling, tunables});
  }
  return table(style, rows, {false, true, true, true, false, false, false});
}

std::string ceilings_text(const Style& style, const Json& device) {
  const auto profile = kernel::parse_hardware(device, "device");
  if (!profile || profile->float32_flops <= 0) return "";
  std::string text = fmt::format("{:.0f} GFLOP/s float32", profile->float32_flops / 1e9);
  if (profile->bfloat16_flops > 0)
    text += fmt::format(", {:.0f} GFLOP/s bfloat16", profile->bfloat16_flops / 1e9);
  for (const kernel::BandwidthPoint& point : profile->bandwidth)
    text += fmt::format(", {:.1f} GB/s over {}", point.bytes_per_second / 1e9,
                        bytes_text(point.working_set_bytes));
  return "  " + printable(style, text) + "\n";
}

std::string baselines_text(const Style& style, const Json& baselines) {
  std::vector<std::vector<std::string>> rows{{"  workload", "naive", "expert", "time"}};
  for (const Json& w : baselines.value("workloads", Json::array())) {
    const bool expert = w.contains("expert");
    rows.push_back({"  " + printable(style, w.value("workload", "")),
                    time_text(w.value("naive_ns", 0.0)),
                    expert ? printable(style, w.value("expert", "")) : "none",
                    expert ? time_text(w.value("expert_ns", 0.0)) : ""});
  }
  std::string out = table(style, rows, {false, true, false, true});
  for (const Json& note : baselines.value("notes", Json::array()))
    if (note.is_string()) out += "  " + printable(style, note.get<std::string>()) + "\n";
  if (baselines.contains("versions") && baselines["versions"].is_object())
    for (const auto& [name, version] : baselines["versions"].items())
      out += fmt::format(
          "  {} {}\n", printable(style, name),
          printable(style, version.is_string() ? version.get<std::string>() : version.dump()));
  return out;
}

std::string calibration_text(const Calibration& calibration) {
  if (calibration.nodes == 0) return "no step has both a predicted and a measured gain";
  std::string text = base::counted(calibration.nodes, "step");
  if (calibration.bias)
    text += fmt::format("; measured gain is {:.2f} times what was predicted (geometric mean)",
                        *calibration.bias);
  if (calibration.rank_correlation)
    text += fmt::format("; rank correlation {:.2f}", *calibration.rank_correlation);
  return text;
}

std::string failures_text(const Style& style, const search::Engine& engine) {
  std::string out;
  for (const search::ProgramRecord& record : engine.programs())
    if (record.outcome && !record.outcome->passed())
      out += hanging(style, record.node_id + ": " + kernel::summary(*record.outcome), 2, 4,
                     kReportWidth);
  return out;
}

std::string certificates_text(const Style& style, const RunSummary& summary) {
  std::string out;
  for (const auto& record : summary.certificates) {
    const auto& c = record.certificate;
    const std::string what = !c                ? "lost too often"
                             : c->passed       ? "passed"
                             : c->only_noise() ? "not certified: the machine was too noisy"
                                               : "thrown out";
    out += fmt::format("  {} (rank {}): {}\n", printable(style, record.node_id), record.rank, what);
    if (!c) continue;
    for (const auto& check : c->checks) {
      out += "    " +
             paint(style, check.passed ? Paint::good : Paint::bad, check.passed ? "ok  " : "no  ") +
             pad(style, printable(style, check.name), 20) + " " +
             hanging(style, check.finding, kFinding, kFinding, kReportWidth).substr(kFinding);
    }
  }
  return out;
}

}  // namespace ksearch::report
