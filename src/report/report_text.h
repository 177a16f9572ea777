// A run's summary and report as text for people, and the report as JSON. Pure functions of what the
// run folder holds.
#pragma once

#include <filesystem>
#include <string>

#include "report/columns.h"
#include "report/summary.h"

namespace ksearch::report {

/// Files of a run beside its journal; null where they are missing or unreadable.
struct RunFiles {
  base::Json baselines;  ///< baselines.json: what experts and the naive program reached
  base::Json ablation;   ///< ablation.json: the winner with steps left out
};
RunFiles read_run_files(const std::filesystem::path& run);

/// What stands at the end of a run: best program, ratios, ceiling, path, where it is, what next.
/// `run` is the folder as the user would type it.
std::string summary_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                         const std::string& run);

/// The summary and all behind it: every workload, outcomes by kind, what each step gained, the
/// whole tree, calibration, baselines, certificate.
std::string report_text(const Style& style, const RunSummary& summary, const RunFiles& files,
                        const search::Engine& engine, const std::string& run);

/// The summary's object, with "ablation" and "baselines".
base::Json report_json(const RunSummary& summary, const RunFiles& files);

}  // namespace ksearch::report
