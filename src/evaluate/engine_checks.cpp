// Runs of a judged program in the engine whose outputs are compared with float64.
#include <fmt/format.h>

#include "evaluate/engine_judge.h"

namespace ksearch::evaluate {

using kernel::Workload;

std::vector<EngineJudge::Check> EngineJudge::tiny_checks(
    const PreparedProgram& program, const std::vector<Workload>& tiny,
    const std::vector<simt::ScheduleChoice>& schedules, bool skip_long) const {
  std::vector<Check> checks;
  for (const Workload& w : tiny) {
    const auto& legal = program.legal.at(w.name);
    const auto& first = program.plan(w.name, legal.front());
    if (skip_long && first.launches.size() > EngineRunner::kMostLaunches) continue;
    for (const simt::ScheduleChoice& schedule : schedules) {
      const std::size_t turn = checks.size();
      const int variants = truth_->maker(w).variants();
      checks.push_back({&w, legal[turn % legal.size()],
                        task::Content{0, static_cast<int>(turn) % variants}, Look::watched,
                        schedule});
    }
  }
  return checks;
}

std::vector<EngineJob> EngineJudge::jobs_of(const PreparedProgram& program, Truth& truth,
                                            const std::vector<Check>& checks) const {
  std::vector<EngineJob> jobs;
  for (const Check& check : checks)
    jobs.push_back({&program.program, &program.plan(check.workload->name, check.choice),
                    &truth.maker(*check.workload), check.content, check.look, check.schedule});
  return jobs;
}

Tried<void> EngineJudge::check_all(const PreparedProgram& program, Truth& truth,
                                   const std::vector<Check>& checks, std::string& at) {
  return compare_all(checks, truth, runner_.run(jobs_of(program, truth, checks)), at);
}

Tried<void> EngineJudge::compare_all(const std::vector<Check>& checks, Truth& truth,
                                     const std::vector<Tried<EngineRunner::Outputs>>& results,
                                     std::string& at) const {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    at = checks[i].workload->name;
    if (!results[i]) return std::unexpected(results[i].error());
    KS_TRY_STEP(check_outputs(checks[i], truth, *results[i]));
  }
  at.clear();
  return {};
}

Tried<void> EngineJudge::check_outputs(const Check& check, Truth& truth,
                                       const EngineRunner::Outputs& outputs) const {
  const auto want = truth.of(*check.workload, check.content);
  if (!want) return lost(want.error().reason);
  const auto specs = outputs_of(task_->definition, truth.maker(*check.workload).tensors());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto got = outputs.find(specs[i].shape.name);
    if (got == outputs.end())
      return verdict(kernel::WrongResult{specs[i].shape.name, "no launch writes it", 0, 0});
    const Comparison c =
        compare(specs[i], std::as_bytes(std::span(got->second)), (**want)[i], nullptr, 0);
    if (!c.right)
      return verdict(kernel::WrongResult{
          specs[i].shape.name,
          c.why + (check.content.variant > 0
                       ? fmt::format(" (inputs of stress[{}])", check.content.variant - 1)
                       : ""),
          c.error, c.tolerance});
  }
  return {};
}

}  // namespace ksearch::evaluate
