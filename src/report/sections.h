// Sections of a report that stand below its summary, as text.
#pragma once

#include <string>

#include "report/columns.h"
#include "report/summary.h"

namespace ksearch::report {

inline constexpr int kReportWidth = 100;  ///< columns

/// One row a workload: time, ratios, expert, share of the ceiling that binds, tunables.
std::string workloads_table(const Style& style, const std::vector<kernel::WorkloadTiming>& timings);

/// What shares of a ceiling are shares of; empty where the device's figures are not known.
std::string ceilings_text(const Style& style, const base::Json& device);
/// baselines.json: the naive program and the best expert of each workload.
std::string baselines_text(const Style& style, const base::Json& baselines);
std::string calibration_text(const Calibration& calibration);
/// One line an evaluated program that did not pass.
std::string failures_text(const Style& style, const search::Engine& engine);
/// Every check of every certificate, with its finding.
std::string certificates_text(const Style& style, const RunSummary& summary);

}  // namespace ksearch::report
