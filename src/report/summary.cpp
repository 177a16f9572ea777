#include "report/summary.h"

#include <algorithm>
#include <cmath>

#include "evaluate/statistics.h"
#include "report/tree_rows.h"
#include "search/figures.h"
#include "search/recorder.h"

namespace ksearch::report {
namespace {

/// Ranks from 1; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) {
      ranks[order[j]] = (static_cast<double>(i + 1) + static_cast<double>(end)) / 2;
    }
    i = end;
  }
  return ranks;
}

/// Pearson's correlation of the ranks (Spearman 1904); none where one side does not vary.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

Calibration calibrate(const tree::Tree& tree) {
  std::vector<double> predicted, measured;
  double residuals = 0;
  for (const tree::Node* node : tree.nodes()) {
    const auto& ours = node->ours;
    if (!node->closed() || !ours.predicted_gain || !ours.measured_gain) continue;
    if (*ours.predicted_gain <= 0 || *ours.measured_gain <= 0) continue;
    predicted.push_back(*ours.predicted_gain);
    measured.push_back(*ours.measured_gain);
    residuals += std::log(*ours.measured_gain / *ours.predicted_gain);
  }
  Calibration calibration;
  calibration.nodes = static_cast<int>(predicted.size());
  if (predicted.empty()) return calibration;
  calibration.bias = std::exp(residuals / static_cast<double>(predicted.size()));
  if (predicted.size() >= 3) calibration.rank_correlation = rank_correlation(predicted, measured);
  return calibration;
}

BestProgram best_program(const search::Engine& engine, const search::ProgramRecord& record) {
  BestProgram best;
  best.program = record.hash;
  best.node_id = record.node_id;
  best.score = record.outcome->score();
  best.modelled = search::is_modelled(*record.outcome);
  best.naive = search::ratio_to(*record.outcome, "naive");
  best.expert = search::ratio_to(*record.outcome, "expert");
  best.expert_name = search::expert_names(*record.outcome);
  best.workloads = search::timings_of(*record.outcome);
  if (const evaluate::Certificate* certificate = certificate_of(engine, record.hash)) {
    best.certificate = certificate->passed ? "passed" : "failed";
    // The highest of many noisy figures is too high. Those of the certificate were measured after
    // the choice, with more time and fresh inputs.
    if (certificate->feedback.size() == best.workloads.size()) {
      best.workloads = certificate->feedback;
      if (const auto naive = evaluate::mean_ratio(best.workloads, "naive")) best.naive = naive;
      if (const auto expert = evaluate::mean_ratio(best.workloads, "expert")) best.expert = expert;
      best.score = best.expert ? best.expert : best.naive;
    }
  }
  double logs = 0;
  bool known = !best.workloads.empty();
  for (const kernel::WorkloadTiming& timing : best.workloads) {
    known = known && timing.roofline_fraction > 0;
    if (known) logs += std::log(timing.roofline_fraction);
  }
  if (known) {
    best.roofline_fraction = std::exp(logs / static_cast<double>(best.workloads.size()));
  }
  return best;
}

/// From the root to the winner.
std::vector<PathStep> path_to(const search::Engine& engine, const std::string& node_id) {
  std::vector<PathStep> steps;
  if (!engine.tree().contains(node_id)) return steps;
  for (const tree::Node* node : engine.tree().path(node_id)) {
    const NodeFigures figures = figures_of(engine, *node);
    steps.push_back({node->id, node->is_root() ? "naive" : node->action.title, figures.program,
                     figures.score, node->ours.predicted_gain, figures.measured_gain});
  }
  return steps;
}

/// What nodes are scored against: the same for all programs of a session.
std::string baseline_of(const search::Engine& engine) {
  for (const search::ProgramRecord& record : engine.programs()) {
    if (!record.outcome) continue;
    if (const auto* m = std::get_if<kernel::Measured>(&record.outcome->verdict)) return m->baseline;
    if (const auto* m = std::get_if<kernel::Modelled>(&record.outcome->verdict)) return m->baseline;
  }
  return "naive";
}

bool is_profiled(const store::RunInfo& info) {
  const auto profile = kernel::parse_hardware(info.device, "device");
  return profile && profile->measured_at.empty();
}

}  // namespace

const evaluate::Certificate* certificate_of(const search::Engine& engine,
                                            const std::string& program) {
  for (const auto& record : engine.certificates())
    if (record.program == program && record.certificate) return &*record.certificate;
  return nullptr;
}

RunSummary summarise(const store::RunInfo& info, const search::Engine& engine) {
  RunSummary summary;
  summary.info = info;
  summary.status = engine.ended() ? engine.status() : "unfinished";
  summary.end_reason = engine.end_reason();
  summary.can_go_on = !engine.ended() || engine.can_reopen();
  summary.strategy = engine.config().strategy;
  summary.seed = engine.config().seed;
  summary.baseline = baseline_of(engine);
  summary.profiled = is_profiled(info);
  summary.spent = engine.spent();
  summary.limits = engine.config().limits;
  const search::ProgramRecord* best = engine.winner() ? engine.winner() : engine.best();
  if (best) {
    summary.best = best_program(engine, *best);
    summary.path = path_to(engine, best->node_id);
  }
  summary.outcomes = engine.counts().outcomes;
  summary.cycles = engine.counts().cycles;
  summary.failed_cycles = engine.counts().failed_cycles;
  for (const tree::Node* node : engine.tree().nodes()) {
    ++summary.nodes;
    if (node->closed() && !node->is_root()) ++summary.closed_nodes;
  }
  const search::Config& config = engine.config();
  summary.unreachable =
      tree::unreachable(engine.tree(), {config.difficulty_limit, config.give_up_after});
  summary.calibration = calibrate(engine.tree());
  summary.certificates = engine.certificates();
  return summary;
}

base::Result<RunSummary> summarise(const std::filesystem::path& run_folder,
                                   const kernel::Definition& definition) {
  KS_TRY(const store::RunData data, store::read_run(run_folder));
  KS_TRY(const search::Resumed run, search::reconstruct(data, definition));
  RunSummary summary = summarise(data.info, run.engine);
  summary.notes = run.notes;
  for (const store::JournalLine& line : data.journal.lines) {
    if (line.kind == store::JournalLine::Kind::event && line.json["event"] == "note") {
      summary.notes.push_back(line.json["text"]);
    }
  }
  return summary;
}

}  // namespace ksearch::report
