#include "report/report_text.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/counted.h"
#include "report/numbers.h"
#include "report/sections.h"
#include "report/tree_rows.h"

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
  const bool ablated = files.ablation.is_object();
  std::vector<std::vector<std::string>> rows{
      {"  step", "/" + summary.baseline, "gain", "predicted"}};
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
  std::string text = base::counted(summary.spent.evaluations, "evaluation");
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
      fmt::format("{}, {}{} tokens in", base::counted(spent.calls, "call"),
                  spent.tokens_estimated ? "about " : "", spent.tokens - spent.tokens_out);
  if (spent.tokens_cached > 0) text += fmt::format(" ({} of them cached)", spent.tokens_cached);
  text += fmt::format(", {} out", spent.tokens_out);
  if (spent.cost_usd > 0 || summary.limits.cost_usd)
    text += fmt::format(", {:.4g} USD", spent.cost_usd);
  if (summary.limits.cost_usd) text += fmt::format(" of {:.4g}", *summary.limits.cost_usd);
  return text;
}

std::string failed_text(const Style& style, const evaluate::Certificate& certificate, bool whole) {
  const evaluate::CertificateCheck* check = certificate.failed_check();
  if (!check) return paint(style, Paint::bad, certificate.summary());
  const std::string name = paint(style, Paint::bad, "failed: " + printable(style, check->name));
  if (!whole) return name + ", as said below";
  std::string text = hanging(style, check->finding, kLabel + 2, kLabel + 2, kReportWidth);
  if (text.ends_with('\n')) text.pop_back();
  return name + "\n" + text;
}

/// The first check that failed, for a certificate that did; what it found only if it is `whole`.
std::string certificate_text(const Style& style, const RunSummary& summary, bool whole) {
  if (!summary.best) return "";
  for (const auto& record : summary.certificates)
    if (record.program == summary.best->program && record.certificate) {
      const auto& c = *record.certificate;
      std::size_t passed = 0;
      for (const auto& check : c.checks) passed += check.passed ? 1 : 0;
      return c.passed
                 ? paint(style, Paint::good, "passed") +
                       fmt::format(", {}, held-out workloads {} {}", base::counted(passed, "check"),
                                   c.baseline, interval(c.heldout_ratio))
                 : failed_text(style, c, whole);
    }
  return "none: the search did not come to it";
}

/// `whole`: nothing follows that says more of a certificate that failed.
std::string opening_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                         const std::string& run, bool whole) {
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
                          (summary.profiled ? " of what its profile says the device can do"
                                            : " of what this machine was measured to reach")
                    : "unknown");
    out += line(style, "certificate", certificate_text(style, summary, whole));
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

}  // namespace

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
  return opening_text(style, summary, files, run, true);
}

std::string report_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                        const search::Engine& engine, const std::string& run) {
  std::string out = opening_text(style, summary, files, run, false);
  if (summary.best && !summary.best->workloads.empty())
    out += heading(style, "Workloads") + workloads_table(style, summary.best->workloads);
  TreeLook look;
  look.width = kReportWidth;
  look.best = summary.best ? summary.best->node_id : "";
  look.baseline = summary.baseline;
  out += heading(style, "Tree");
  for (const std::string& row : tree_lines(style, tree_rows(engine), look))
    out += "  " + row + "\n";
  out += heading(style, "Outcomes") + "  " + outcomes_text(summary) + "\n" +
         failures_text(style, engine);
  out += heading(style, "Predictions") + "  " + calibration_text(summary.calibration) + "\n";
  if (const std::string ceilings = ceilings_text(style, summary.info.device); !ceilings.empty())
    out += heading(style, summary.profiled ? "Ceilings, by the profile"
                                           : "Ceilings, measured at the start") +
           ceilings;
  if (files.baselines.is_object())
    out += heading(style, "Baselines") + baselines_text(style, files.baselines);
  if (!summary.certificates.empty())
    out += heading(style, "Certificate") + certificates_text(style, summary);
  return out;
}

Json report_json(const RunSummary& summary, const RunFiles& files) {
  Json json = to_json(summary);
  json["ablation"] = files.ablation;
  json["baselines"] = files.baselines;
  return json;
}

}  // namespace ksearch::report
