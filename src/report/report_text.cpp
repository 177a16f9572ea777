#include "report/report_text.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "report/tree_lines.h"

namespace ksearch::report {
namespace {

using base::Json;

constexpr int kLabel = 12;

std::string line(const Style& style, std::string_view label, const std::string& text) {
  return "  " + paint(style, Paint::dim, pad(style, label, kLabel)) + text + "\n";
}

std::string heading(const Style& style, std::string_view text) {
  return "\n" + paint(style, Paint::strong, text) + "\n";
}

std::string interval(const kernel::Ratio& ratio) {
  return fmt::format("{}  [{:.2f}, {:.2f}]", ratio_text(ratio.value), ratio.low, ratio.high);
}

std::string optional_ratio(const std::optional<double>& value) {
  return value ? ratio_text(*value) : "";
}

std::string device_name(const store::RunInfo& info) {
  const auto name = info.device.is_object() ? info.device.find("name") : info.device.end();
  return name != info.device.end() && name->is_string() ? name->get<std::string>() : info.target;
}

/// The gain of a step as the ablation measured it, or null.
const Json* left_out(const RunFiles& files, const std::string& node) {
  if (!files.ablation.is_object() || !files.ablation.contains("steps")) return nullptr;
  for (const Json& step : files.ablation["steps"])
    if (step.is_object() && step.value("step", "") == node) return &step;
  return nullptr;
}

std::string left_out_text(const RunFiles& files, const std::string& node) {
  const Json* step = left_out(files, node);
  if (!step) return "";
  if (!step->contains("gain")) return "cannot run";
  const Json& gain = (*step)["gain"];
  return fmt::format("{} [{:.2f}, {:.2f}]", ratio_text(gain.value("value", 0.0)),
                     gain.value("low", 0.0), gain.value("high", 0.0));
}

std::string path_table(const Style& style, const RunSummary& summary, const RunFiles& files) {
  const bool expert = summary.best && summary.best->expert;
  const bool ablated = files.ablation.is_object();
  std::vector<std::vector<std::string>> rows{
      {"  step", expert ? "/expert" : "/naive", "gain", "predicted"}};
  std::vector<bool> right{false, true, true, true};
  if (ablated) {
    rows[0].push_back("measured by leaving it out");
    right.push_back(true);
  }
  for (const PathStep& step : summary.path) {
    std::vector<std::string> row{"  " + printable(style, step.title), optional_ratio(step.score),
                                 optional_ratio(step.measured_gain),
                                 optional_ratio(step.predicted_gain)};
    if (ablated) row.push_back(left_out_text(files, step.node_id));
    rows.push_back(std::move(row));
  }
  return table(style, rows, right);
}

std::string outcomes_text(const RunSummary& summary) {
  std::string text;
  for (const auto& [kind, count] : summary.outcomes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text.empty() ? "none" : text;
}

std::string spent_text(const RunSummary& summary) {
  const double seconds = std::chrono::duration<double>(summary.spent.wall).count();
  std::string text = fmt::format("{} evaluation{}", summary.spent.evaluations,
                                 summary.spent.evaluations == 1 ? "" : "s");
  if (summary.limits.evaluations) text += fmt::format(" of {}", *summary.limits.evaluations);
  text += ", " + seconds_text(seconds);
  if (summary.limits.wall) {
    // The limit is the search's; the certificate comes after it.
    const double limit = std::chrono::duration<double>(*summary.limits.wall).count();
    text += seconds > limit
                ? fmt::format(" with the certificate, {} for the search", seconds_text(limit))
                : " of " + seconds_text(limit);
  }
  if (!summary.end_reason.empty()) text += "; " + summary.end_reason;
  return text;
}

/// "14 calls, 81000 tokens in (63000 of them cached), 9200 out, 0.21 USD"; empty for the catalog.
std::string calls_text(const RunSummary& summary) {
  const event::Spent& spent = summary.spent;
  if (spent.calls == 0) return "";
  std::string text =
      fmt::format("{} call{}, {}{} tokens in", spent.calls, spent.calls == 1 ? "" : "s",
                  spent.tokens_estimated ? "about " : "", spent.tokens - spent.tokens_out);
  if (spent.tokens_cached > 0) text += fmt::format(" ({} of them cached)", spent.tokens_cached);
  text += fmt::format(", {} out", spent.tokens_out);
  if (spent.cost_usd > 0 || summary.limits.cost_usd)
    text += fmt::format(", {:.4g} USD", spent.cost_usd);
  if (summary.limits.cost_usd) text += fmt::format(" of {:.4g}", *summary.limits.cost_usd);
  return text;
}

/// The first check that failed, for a certificate that did.
std::string certificate_text(const Style& style, const RunSummary& summary) {
  if (!summary.best) return "";
  for (const auto& record : summary.certificates)
    if (record.program == summary.best->program && record.certificate) {
      const auto& c = *record.certificate;
      std::size_t passed = 0;
      for (const auto& check : c.checks) passed += check.passed ? 1 : 0;
      return c.passed ? paint(style, Paint::good, "passed") +
                            fmt::format(", {} checks, held-out workloads {} {}", passed, c.baseline,
                                        interval(c.heldout_ratio))
                      : paint(style, Paint::bad, printable(style, c.summary()));
    }
  return "none: the search did not come to it";
}

/// What shares of a ceiling are shares of: measured when the run's session opened.
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
  std::string text = fmt::format("{} step{}", calibration.nodes, calibration.nodes == 1 ? "" : "s");
  if (calibration.bias)
    text += fmt::format("; measured gain is {:.2f} times what was predicted (geometric mean)",
                        *calibration.bias);
  if (calibration.rank_correlation)
    text += fmt::format("; rank correlation {:.2f}", *calibration.rank_correlation);
  return text;
}

std::vector<TreeRow> rows_of(const search::Engine& engine) {
  std::vector<TreeRow> rows;
  for (const tree::Node* node : engine.tree().nodes()) {
    TreeRow row;
    row.id = node->id;
    row.parent = node->parent;
    row.title = node->is_root() ? "naive" : node->action.title;
    row.score = node->ours.score;
    row.predicted = node->ours.predicted_gain;
    row.measured = node->ours.measured_gain;
    row.status = node->is_root()  ? NodeStatus::root
                 : node->closed() ? NodeStatus::passed
                                  : NodeStatus::open;
    if (row.status == NodeStatus::open && node->ours.failed_cycles > 0)
      row.status = NodeStatus::failed;
    rows.push_back(std::move(row));
  }
  for (const search::ProgramRecord& record : engine.programs())
    if (record.outcome && !record.outcome->passed())
      for (TreeRow& row : rows)
        if (row.id == record.node_id && row.status == NodeStatus::failed)
          row.remark = std::string(kernel::kind(*record.outcome));
  return rows;
}

std::string failures_text(const Style& style, const search::Engine& engine) {
  std::string out;
  for (const search::ProgramRecord& record : engine.programs())
    if (record.outcome && !record.outcome->passed())
      out += fmt::format("  {}: {}\n", printable(style, record.node_id),
                         printable(style, kernel::summary(*record.outcome)));
  return out;
}

std::string certificate_checks(const Style& style, const RunSummary& summary) {
  std::string out;
  for (const auto& record : summary.certificates) {
    out += fmt::format("  {} (rank {}): {}\n", printable(style, record.node_id), record.rank,
                       record.certificate ? printable(style, record.certificate->summary())
                                          : std::string("lost too often"));
    if (!record.certificate) continue;
    for (const auto& check : record.certificate->checks)
      out += "    " +
             paint(style, check.passed ? Paint::good : Paint::bad, check.passed ? "ok  " : "no  ") +
             pad(style, printable(style, check.name), 20) + " " + printable(style, check.finding) +
             "\n";
  }
  return out;
}

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

RunFiles read_run_files(const std::filesystem::path& run) {
  const auto read = [&](const char* name) -> Json {
    std::ifstream in(run / name, std::ios::binary);
    if (!in) return nullptr;
    std::ostringstream text;
    text << in.rdbuf();
    const auto json = base::parse_json(text.str(), (run / name).string());
    return json ? *json : Json(nullptr);
  };
  return {read("baselines.json"), read("ablation.json")};
}

std::string summary_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                         const std::string& run) {
  const Paint mood = summary.status == "passed"    ? Paint::good
                     : summary.status == "nothing" ? Paint::bad
                                                   : Paint::busy;
  const bool uncertified = summary.status == "nothing" && summary.best;
  std::string out = "\n" + paint(style, Paint::strong, summary.info.task) + " on " +
                    printable(style, device_name(summary.info)) + ": " +
                    paint(style, mood, uncertified ? "not certified" : summary.status) + "\n\n";
  if (summary.best) {
    const BestProgram& best = *summary.best;
    out += line(style, "best",
                fmt::format("{} (program {}){}", printable(style, best.node_id), best.program,
                            best.modelled ? ", times are modelled" : ""));
    if (best.naive) out += line(style, "to naive", interval(*best.naive));
    out += line(style, "to expert",
                best.expert ? interval(*best.expert) + "  " + printable(style, best.expert_name)
                            : "no library that does this is present: nothing to compare with");
    out += line(style, "ceiling",
                best.roofline_fraction > 0
                    ? percent_text(best.roofline_fraction) +
                          (best.modelled ? " of what its profile says the device can do"
                                         : " of what this machine was measured to reach")
                    : "unknown");
    out += line(style, "certificate", certificate_text(style, summary));
  } else {
    out += line(style, "best", "nothing passed: " + outcomes_text(summary));
  }
  out += line(style, "spent", spent_text(summary));
  if (const std::string calls = calls_text(summary); !calls.empty())
    out += line(style, "model", calls);
  if (summary.path.size() > 1) out += "\n" + path_table(style, summary, files);
  out += "\n" + line(style, "run", run);
  if (summary.can_go_on) out += line(style, "go on", "ksearch resume " + run);
  out += line(style, "report", "ksearch report " + run);
  const char* form = summary.info.target == "metal" ? " --as mlx-python" : " --as cpp";
  if (summary.best) out += line(style, "export", "ksearch export " + run + form);
  for (const std::string& note : summary.notes) out += line(style, "note", printable(style, note));
  return out;
}

std::string report_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                        const search::Engine& engine, const std::string& run) {
  std::string out = summary_text(style, summary, files, run);
  if (summary.best && !summary.best->workloads.empty())
    out += heading(style, "Workloads") + workloads_table(style, summary.best->workloads);
  TreeLook look;
  look.width = 100;
  look.best = summary.best ? summary.best->node_id : "";
  look.baseline = summary.best && summary.best->expert ? "expert" : "naive";
  out += heading(style, "Tree");
  for (const std::string& row : tree_lines(style, rows_of(engine), look)) out += "  " + row + "\n";
  out += heading(style, "Outcomes") + "  " + outcomes_text(summary) + "\n" +
         failures_text(style, engine);
  out += heading(style, "Predictions") + "  " + calibration_text(summary.calibration) + "\n";
  if (const std::string ceilings = ceilings_text(style, summary.info.device); !ceilings.empty())
    out +=
        heading(style, summary.best && summary.best->modelled ? "Ceilings, by the profile"
                                                              : "Ceilings, measured at the start") +
        ceilings;
  if (files.baselines.is_object())
    out += heading(style, "Baselines") + baselines_text(style, files.baselines);
  if (!summary.certificates.empty())
    out += heading(style, "Certificate") + certificate_checks(style, summary);
  return out;
}

Json report_json(const RunSummary& summary, const RunFiles& files) {
  Json json = to_json(summary);
  json["ablation"] = files.ablation;
  json["baselines"] = files.baselines;
  return json;
}

}  // namespace ksearch::report
