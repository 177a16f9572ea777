#include "evaluate/engine_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/hash.h"
#include "base/random.h"
#include "evaluate/ceiling.h"
#include "evaluate/select.h"
#include "evaluate/supported.h"

namespace ksearch::evaluate {
namespace {

/// A model has no noise; a rule for less is not worth its line.
constexpr double kLeastModelledGain = 0.002;

using kernel::Workload;

/// A program that is no expert's is judged on all.
std::vector<Workload> judged(const task::Task& task, const std::vector<Workload>& workloads,
                             const task::Expert* expert) {
  return expert ? supported(task, *expert, workloads) : workloads;
}

/// So many, evenly, from a place that the program's hash decides.
std::vector<Workload> some_of(std::vector<Workload> all, const std::string& hash,
                              std::size_t most = EngineJudge::kTinyInASearch) {
  if (all.size() <= most) return all;
  const std::size_t from = std::stoul(hash.substr(0, 4), nullptr, 16);
  std::vector<Workload> some;
  for (std::size_t i = 0; i < most; ++i)
    some.push_back(all[(from + i * all.size() / most) % all.size()]);
  return some;
}

}  // namespace

EngineJudge::EngineJudge(const task::Task& task, const target::GpuProfile& gpu, EngineRunner runner,
                         target::Target& reference, std::uint64_t seed)
    : task_(&task),
      with_checked_(task),
      device_(target::as_hardware(gpu)),
      gpu_name_(gpu.name),
      runner_(std::move(runner)),
      reference_(&reference),
      seed_(seed),
      tiny_(task.with_role(kernel::Role::tiny)),
      feedback_(task.with_role(kernel::Role::feedback)),
      heldout_(task.with_role(kernel::Role::heldout)) {
  for (const Workload& w : feedback_) {
    checked_.push_back(kernel::checked_shape(w));
    if (!w.check_axes.empty()) with_checked_.workloads.push_back(checked_.back());
  }
}

base::Result<void> EngineJudge::open_truth() {
  if (feedback_.empty())
    return base::usage_error(task_->definition.name, "no feedback workload to model");
  KS_TRY(truth_, Truth::open(with_checked_, *reference_, nullptr,
                             base::Random(seed_).fork("inputs").next()));
  return {};
}

Tried<kernel::Modelled> EngineJudge::judge(const kernel::Program& program, Judging how,
                                           kernel::Outcome& outcome, const Progress& progress,
                                           const task::Expert* expert) {
  outcome.stage = kernel::Stage::check;
  if (program.dialect != kernel::Dialect::mlx && program.dialect != kernel::Dialect::metal)
    return verdict(kernel::Unsupported{
        fmt::format("programs for this target are of dialect mlx, this one of {}",
                    kernel::name(program.dialect))});
  const std::vector<Workload> tiny =
      some_of(judged(*task_, tiny_, expert), base::sha256(program.hash()));
  const std::vector<Workload> feedback = judged(*task_, feedback_, expert);
  std::vector<Workload> all = tiny;
  all.insert(all.end(), feedback.begin(), feedback.end());
  if (how == Judging::candidate) all.insert(all.end(), checked_.begin(), checked_.end());
  KS_TRIED(PreparedProgram prepared,
           bind_all_choices(program, task_->definition, all, device_, outcome.workload));
  if (!expert)  // held-out shapes must bind too, or the winner could only fail its certificate
    KS_TRY_STEP(bind_all_choices(program, task_->definition, heldout_, device_, outcome.workload));

  progress(fmt::format("tiny shapes, {}", tiny.size()));
  outcome.stage = kernel::Stage::tiny;
  std::vector<Check> checks =
      tiny_checks(prepared, tiny, {{"default", 0}}, how == Judging::trusted);
  KS_TRY_STEP(check_all(prepared, *truth_, checks, outcome.workload));

  // Where nothing is to be selected by time, outputs are made while times are modelled.
  const auto checks_of_outputs = [&] {
    std::vector<Check> all_outputs;
    for (const Workload& w : checked_)
      all_outputs.push_back({&w, chosen(prepared, outcome.select, task_->definition, w, device_),
                             task::Content{1, 0}, Look::traced_outputs});
    return all_outputs;
  };
  Beside beside;
  checks.clear();
  if (how == Judging::candidate && prepared.choices().size() == 1) {
    if (!prepared.choices()[0].empty()) outcome.select = {{std::nullopt, prepared.choices()[0]}};
    checks = checks_of_outputs();
    beside.jobs = jobs_of(prepared, *truth_, checks);
  }
  progress("modelling, " + base::counted(feedback.size(), "workload"));
  outcome.stage = kernel::Stage::timing;
  KS_TRIED(Times times, model(prepared, feedback, nullptr, &beside, &outcome.workload));
  outcome.select = std::move(times.select);
  std::ranges::move(times.notes, std::back_inserter(outcome.notes));

  if (how == Judging::candidate) {
    outcome.stage = kernel::Stage::feedback;
    if (beside.jobs.empty()) {
      progress("outputs, " + base::counted(feedback.size(), "workload"));
      KS_TRY_STEP(check_all(prepared, *truth_, checks_of_outputs(), outcome.workload));
    } else {
      KS_TRY_STEP(compare_all(checks, *truth_, beside.outputs, outcome.workload));
    }
    outcome.stage = kernel::Stage::timing;
  }
  kernel::Modelled modelled;
  modelled.profile = gpu_name_;
  modelled.model_version = std::string(target::kTimeModelVersion);
  modelled.workloads = std::move(times.timings);
  return modelled;
}

Tried<EngineJudge::Times> EngineJudge::model(const PreparedProgram& program,
                                             const std::vector<Workload>& workloads,
                                             const kernel::Select* select, Beside* beside,
                                             std::string* at) {
  struct Entry {
    const Workload* workload;
    kernel::TunableChoice choice;
  };
  std::vector<Entry> entries;
  std::vector<EngineJob> jobs;
  for (const Workload& w : workloads)
    for (const kernel::TunableChoice& choice : program.legal.at(w.name)) {
      if (select && choice != chosen(program, *select, task_->definition, w, device_)) continue;
      entries.push_back({&w, choice});
      jobs.push_back({&program.program,
                      &program.plan(w.name, choice),
                      &truth_->maker(w),
                      task::Content{1, 0},
                      Look::outputs,
                      {}});
    }
  EngineRunner::Results results =
      runner_.model_and_run(jobs, beside ? beside->jobs : std::vector<EngineJob>());
  if (beside) beside->outputs = std::move(results.outputs);
  const auto& modelled = results.modelled;
  std::vector<ChoiceTimes> times;
  std::map<std::pair<std::string, kernel::TunableChoice>, std::size_t> index;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!modelled[i]) {
      if (at) *at = entries[i].workload->name;
      return std::unexpected(modelled[i].error());
    }
    if (times.empty() || times.back().workload != entries[i].workload)
      times.push_back({entries[i].workload, {}, {}});
    times.back().ns[entries[i].choice] = modelled[i]->seconds * 1e9;
    index[{entries[i].workload->name, entries[i].choice}] = i;
  }
  Times all;
  if (!select && program.choices().size() > 1) {
    all.select = select_tunables(task_->definition, times, kLeastModelledGain);
    if (std::string text = describe_choices(times); !text.empty())
      all.notes.push_back(std::move(text));
  } else if (!select && program.choices().size() == 1 && !program.choices()[0].empty()) {
    all.select = {{std::nullopt, program.choices()[0]}};
  }
  for (const Workload& w : workloads) {
    const auto choice =
        chosen(program, select ? *select : all.select, task_->definition, w, device_);
    const auto& found = modelled[index.at({w.name, choice})];
    all.timings.push_back(timing_of(w, choice, found->seconds));
    all.notes.push_back(fmt::format("modelled on {}: {}", w.name, target::describe(*found)));
    all.launching[w.name] = found->launching_seconds / found->seconds;
  }
  return all;
}

kernel::WorkloadTiming EngineJudge::timing_of(const Workload& w,
                                              const kernel::TunableChoice& choice,
                                              double seconds) const {
  kernel::WorkloadTiming t;
  t.workload = w.name;
  t.tunables = choice;
  t.samples_ns = {seconds * 1e9};
  t.median_ns = t.low_ns = t.high_ns = seconds * 1e9;
  if (const auto work = kernel::work_of(task_->definition, w)) {
    const Ceiling ceiling = ceiling_of(*work, truth_->maker(w).tensors(), device_);
    t.roofline_fraction = ceiling.ns / t.median_ns;
    t.bound_by = ceiling.bound_by;
  }
  return t;
}

Tried<void> EngineJudge::check_tiny(const kernel::Program& program, std::size_t most,
                                    const std::vector<simt::ScheduleChoice>& schedules,
                                    std::string& at, const task::Expert* expert) {
  const std::vector<Workload> tiny =
      some_of(judged(*task_, tiny_, expert), base::sha256(program.hash()), most);
  KS_TRIED(const PreparedProgram prepared,
           bind_all_choices(program, task_->definition, tiny, device_, at));
  return check_all(prepared, *truth_, tiny_checks(prepared, tiny, schedules, true), at);
}

Tried<std::map<std::string, double>> EngineJudge::times(const kernel::Program& program,
                                                        const std::vector<Workload>& workloads,
                                                        const task::Expert* expert) {
  const std::vector<Workload> some = judged(*task_, workloads, expert);
  std::string at;
  KS_TRIED(const PreparedProgram prepared,
           bind_selected(program, program.select, task_->definition, some, device_, at));
  KS_TRIED(const Times modelled, model(prepared, some, &program.select));
  std::map<std::string, double> ns;
  for (const kernel::WorkloadTiming& timing : modelled.timings)
    ns[timing.workload] = timing.median_ns;
  return ns;
}

}  // namespace ksearch::evaluate
