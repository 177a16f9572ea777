// The summary as the one JSON object that `--json` prints (design, section 11).
#include "report/summary.h"

namespace ksearch::report {
namespace {

using base::Json;

Json json_of(const std::optional<kernel::Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"value", ratio->value}, {"low", ratio->low}, {"high", ratio->high}};
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const BestProgram& best, const std::vector<PathStep>& path) {
  Json ids = Json::array();
  for (const PathStep& step : path) ids.push_back(step.node_id);
  Json workloads = Json::array();
  for (const kernel::WorkloadTiming& timing : best.workloads) {
    workloads.push_back(kernel::to_json(timing));
    workloads.back().erase("samples_ns");
  }
  return {{"program", best.program},
          {"node", best.node_id},
          {"modelled", best.modelled},
          {"ratio",
           {{"naive", json_of(best.naive)},
            {"expert", json_of(best.expert)},
            {"expert_name", best.expert_name}}},
          {"per_workload", std::move(workloads)},
          {"roofline_fraction",
           best.roofline_fraction > 0 ? Json(best.roofline_fraction) : Json(nullptr)},
          {"certificate", best.certificate},
          {"path", std::move(ids)}};
}

}  // namespace

Json to_json(const RunSummary& summary) {
  Json steps = Json::array();
  for (const PathStep& step : summary.path) {
    steps.push_back({{"node", step.node_id},
                     {"title", step.title},
                     {"program", step.program},
                     {"score", json_of(step.score)},
                     {"predicted_gain", json_of(step.predicted_gain)},
                     {"measured_gain", json_of(step.measured_gain)}});
  }
  Json certificates = Json::array();
  for (const search::CertificateRecord& record : summary.certificates) {
    certificates.push_back(
        {{"program", record.program},
         {"node", record.node_id},
         {"rank", record.rank},
         {"summary", record.certificate ? record.certificate->summary() : std::string("none")}});
  }
  Json unreachable = Json::object();
  for (const tree::Unreachable& node : summary.unreachable) unreachable[node.node_id] = node.why;
  const Json& device = summary.info.device;
  const bool named = device.is_object() && device.contains("name");
  return {{"run", summary.info.run},
          {"task", summary.info.task},
          {"target", summary.info.target},
          {"device", named ? device["name"] : device},
          {"engineer", summary.info.engineer},
          {"strategy", summary.strategy},
          {"seed", summary.seed},
          {"status", summary.status},
          {"end_reason", summary.end_reason},
          {"evaluations", summary.spent.evaluations},
          {"wall_seconds", std::chrono::duration<double>(summary.spent.wall).count()},
          {"tokens", summary.spent.tokens},
          {"tokens_in", summary.spent.tokens - summary.spent.tokens_out},
          {"tokens_out", summary.spent.tokens_out},
          {"tokens_cached", summary.spent.tokens_cached},
          {"tokens_estimated", summary.spent.tokens_estimated},
          {"calls", summary.spent.calls},
          {"cost_usd", summary.spent.cost_usd},
          {"best", summary.best ? json_of(*summary.best, summary.path) : Json(nullptr)},
          {"steps", std::move(steps)},
          {"cycles", summary.cycles},
          {"failed_cycles", summary.failed_cycles},
          {"nodes", summary.nodes},
          {"closed_nodes", summary.closed_nodes},
          {"unreachable", std::move(unreachable)},
          {"outcomes", summary.outcomes},
          {"calibration",
           {{"nodes", summary.calibration.nodes},
            {"rank_correlation", json_of(summary.calibration.rank_correlation)},
            {"bias", json_of(summary.calibration.bias)}}},
          {"certificates", std::move(certificates)},
          {"notes", summary.notes}};
}

}  // namespace ksearch::report
