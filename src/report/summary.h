// What a run found, computed from its folder: a plain value. Rendering is `cli`'s.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluate/certificate.h"
#include "event/event.h"
#include "kernel/outcome.h"
#include "search/engine.h"
#include "store/run.h"

namespace ksearch::report {

/// One step on the way from the root to the winner.
struct PathStep {
  std::string node_id, title;
  std::string program;
  std::optional<double> score;                          ///< RunSummary::baseline / program
  std::optional<double> predicted_gain, measured_gain;  ///< over the step before
};

struct BestProgram {
  std::string program, node_id;
  bool modelled = false;
  std::optional<kernel::Ratio> score;
  std::optional<kernel::Ratio> naive, expert;
  std::string expert_name;
  std::vector<kernel::WorkloadTiming> workloads;
  double roofline_fraction = 0;      ///< geometric mean over workloads; 0: unknown
  std::string certificate = "none";  ///< "passed", "failed", "none"
};

/// Predicted against measured gain over the parent, of nodes that have both.
struct Calibration {
  int nodes = 0;
  std::optional<double> rank_correlation;  ///< Spearman's, ties by mean ranks; three nodes or more
  std::optional<double> bias;              ///< geometric mean of measured / predicted
};

struct RunSummary {
  store::RunInfo info;
  std::string status;  ///< "passed", "nothing", "stopped", "unfinished"
  std::string end_reason;
  bool can_go_on = false;  ///< ksearch resume: it has not ended, or ended for want of an answer
  std::string strategy;
  std::uint64_t seed = 0;
  std::string baseline = "naive";  ///< of the scores of nodes: "naive", "expert"
  bool profiled = false;           ///< ceilings are a data file's, not measured on the machine
  event::Spent spent;
  event::Limits limits;
  std::optional<BestProgram> best;
  std::vector<PathStep> path;           ///< from the root on
  std::map<std::string, int> outcomes;  ///< by kind, of all evaluated programs
  int cycles = 0, failed_cycles = 0;
  int nodes = 0, closed_nodes = 0;
  std::vector<tree::Unreachable> unreachable;  ///< open nodes nothing could come to
  Calibration calibration;
  std::vector<search::CertificateRecord> certificates;
  std::vector<std::string> notes;  ///< of the run, and of reading it
};

RunSummary summarise(const store::RunInfo& info, const search::Engine& engine);
/// Of a program, by its hash; null where none was made. Owned by the engine.
const evaluate::Certificate* certificate_of(const search::Engine& engine,
                                            const std::string& program);
base::Result<RunSummary> summarise(const std::filesystem::path& run_folder,
                                   const kernel::Definition& definition);
/// The `--json` object of design section 11.
base::Json to_json(const RunSummary& summary);

}  // namespace ksearch::report
