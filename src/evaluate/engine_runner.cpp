#include "evaluate/engine_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <set>
#include <thread>

#include "simt/stages.h"

namespace ksearch::evaluate {
namespace {

/// Groups traced of each launch. Two mirrored ones are exact for work that grows along the grid
/// (FewGroupsOfManyEstimateWorkThatGrows); integers among the inputs, as lengths or experts'
/// numbers, can steer it in any way.
constexpr std::uint32_t kTracedGroups = 2;
constexpr std::uint32_t kTracedGroupsSteered = 6;
constexpr std::size_t kLogBytes = 4096;

/// The engine's word for what went wrong, as a verdict: a case that does not compile or run is the
/// program's.
Failure failure_of(const base::Error& error) {
  if (error.kind != base::ErrorKind::usage) return kernel::Lost{error.text()};
  if (error.where == "the kernel") {
    if (error.what.find("did not end") != std::string::npos)
      return kernel::TimedOut{static_cast<double>(simt::CheckOptions().time.count())};
    return kernel::Crashed{error.what};
  }
  return kernel::CompileFailed{error.text().substr(0, kLogBytes)};
}

kernel::Unsafe unsafe_of(const std::vector<simt::Finding>& findings) {
  kernel::Unsafe unsafe;
  for (const simt::Finding& finding : findings) {
    std::string places;
    for (const simt::SourceLine& line : finding.where)
      places += fmt::format("{}{}:{}", places.empty() ? "" : ", ", line.file, line.line);
    unsafe.findings.push_back(
        {finding.kind, finding.buffer,
         fmt::format("{}{}{}", places, places.empty() ? "" : ": ", finding.message)});
  }
  return unsafe;
}

Tried<simt::ProgramCases> cases_of(const EngineJob& job) {
  auto cases =
      simt::cases_of_program(*job.program, *job.plan, program_tensors(*job.maker, job.content));
  if (!cases) return verdict(kernel::Unsupported{cases.error().text()});
  return std::move(*cases);
}

bool is_integer(kernel::DType type) {
  return type != kernel::DType::float32 && type != kernel::DType::float16 &&
         type != kernel::DType::bfloat16;
}

/// Launches of one kernel on grids of one size are taken to do the same, whatever their numbers.
std::string likeness(const kernel::BoundLaunch& launch) {
  std::string text = launch.kernel;
  for (const auto* defines : {&launch.defines, &launch.instantiate, &launch.constants})
    for (const auto& [name, value] : *defines) text += fmt::format(" {}={}", name, value);
  for (const auto* sizes : {&launch.groups, &launch.threads, &launch.group_size})
    for (const std::int64_t size : *sizes) text += fmt::format(" {}", size);
  return text;
}

/// Whether it leaves integers: counts and indices may steer what launches after it do, numbers do
/// not.
bool leaves_integers(const kernel::BoundLaunch& launch) {
  return std::ranges::any_of(launch.args, [](const kernel::BoundArg& arg) {
    const auto* tensor = std::get_if<kernel::BoundTensor>(&arg);
    return tensor && tensor->writes && is_integer(tensor->dtype);
  });
}

std::uint32_t traced_groups(const EngineJob& job) {
  const bool steered = std::ranges::any_of(job.maker->tensors(), [](const auto& tensor) {
    return tensor.access != kernel::Access::out && is_integer(tensor.dtype);
  });
  return steered ? kTracedGroupsSteered : kTracedGroups;
}

/// The first, the middle and the last of each kind of launch, and how many each stands for.
std::vector<double> representatives(const kernel::BoundProgram& plan) {
  std::map<std::string, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    kinds[likeness(plan.launches[i])].push_back(i);
  std::vector<double> stands_for(plan.launches.size(), 0);
  for (const auto& [kind, all] : kinds) {
    const std::set<std::size_t> chosen{all.front(), all[all.size() / 2], all.back()};
    for (const std::size_t i : chosen)
      stands_for[i] = static_cast<double>(all.size()) / static_cast<double>(chosen.size());
  }
  return stands_for;
}

target::GpuLaunch launch_of(const kernel::BoundLaunch& bound) {
  target::GpuLaunch launch;
  launch.kernel = bound.kernel;
  launch.threads = 1;
  launch.groups = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    launch.threads *= static_cast<double>(bound.group_size[d]);
    const std::int64_t groups =
        bound.threads[0] > 0 ? (bound.threads[d] + bound.group_size[d] - 1) / bound.group_size[d]
                             : bound.groups[d];
    launch.groups *= static_cast<double>(groups);
    launch.grid[d] = static_cast<double>(groups);
  }
  return launch;
}

/// f(i) for each of `order`, begun in that order, on so many threads.
template <class F>
void on_threads(const std::vector<std::size_t>& order, std::size_t threads, F&& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < order.size();) f(order[i]);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(threads, order.size()); ++t) others.emplace_back(work);
  work();
}

std::int64_t size_of(const EngineJob& job) {
  std::int64_t bytes = 0;
  for (const kernel::TensorShape& tensor : job.maker->tensors())
    bytes += static_cast<std::int64_t>(tensor.bytes());
  return bytes;
}

/// Their numbers, those that take longest first: what is left for one CPU at the end is short.
std::vector<std::size_t> longest_first(std::span<const EngineJob> jobs) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return size_of(jobs[i]); });
  return order;
}

}  // namespace

std::vector<simt::ProgramTensor> program_tensors(const task::InputMaker& maker,
                                                 const task::Content& content) {
  std::vector<simt::ProgramTensor> tensors;
  for (const kernel::TensorShape& shape : maker.tensors()) {
    simt::ProgramTensor tensor{shape.name, shape.dtype, shape.shape, simt::Role::in, {}};
    if (shape.access == kernel::Access::out) {
      tensor.role = simt::Role::out;
    } else {
      tensor.bytes.resize(shape.bytes());
      maker.fill(content, shape.name, std::as_writable_bytes(std::span(tensor.bytes)));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<Tried<EngineRunner::Outputs>> EngineRunner::run(std::span<const EngineJob> jobs) const {
  return model_and_run({}, jobs).outputs;
}

EngineRunner::Results EngineRunner::model_and_run(std::span<const EngineJob> models,
                                                  std::span<const EngineJob> runs) const {
  Results results{{models.size(), lost("not run")}, {runs.size(), lost("not run")}};
  std::vector<std::size_t> order = longest_first(models);
  for (const std::size_t i : longest_first(runs)) order.push_back(models.size() + i);
  on_threads(order, jobs_, [&](std::size_t i) {
    if (i < models.size())
      results.modelled[i] = model_one(models[i]);
    else
      results.outputs[i - models.size()] = run_one(runs[i - models.size()]);
  });
  return results;
}

Tried<EngineRunner::Outputs> EngineRunner::run_one(const EngineJob& job) const {
  if (job.plan->launches.size() > kMostLaunches)
    return verdict(
        kernel::Unsupported{fmt::format("{} launches on one workload; {} are run here at most",
                                        job.plan->launches.size(), kMostLaunches)});
  KS_TRIED(const simt::ProgramCases cases, cases_of(job));
  simt::CheckOptions options;
  options.watch = job.look != Look::outputs;
  options.trace_only = options.trace_whole = job.look == Look::traced_outputs;
  options.trace_groups = options.trace_only ? 1 : 0;
  options.schedule = job.schedule;
  options.worker = worker_;
  auto report = simt::check_sequence(builder_, cases.cases, cases.scratch, options);
  if (!report) return std::unexpected(failure_of(report.error()));
  if (!report->clean()) return verdict(unsafe_of(report->findings));
  return std::move(report->outputs);
}

Tried<target::ModelledProgram> EngineRunner::model_one(const EngineJob& job) const {
  KS_TRIED(const simt::ProgramCases cases, cases_of(job));
  const std::vector<double> stands_for = representatives(*job.plan);
  const auto& launches = job.plan->launches;
  std::vector<simt::TracedStage> stages(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i)
    stages[i] = {stands_for[i] > 0, launches.size() <= kMostLaunches && i + 1 < launches.size() &&
                                        leaves_integers(launches[i])};
  simt::CheckOptions options;
  options.worker = worker_;
  options.trace_groups = traced_groups(job);
  const auto traces = simt::trace_sequence(builder_, cases.cases, stages, options);
  if (!traces) return std::unexpected(failure_of(traces.error()));
  std::vector<target::ModelledLaunch> modelled;
  std::vector<double> times;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (stands_for[i] == 0) continue;
    auto one = target::model_launch(*gpu_, launch_of(launches[i]), (*traces)[i]);
    if (!one) return lost(one.error().text());
    modelled.push_back(std::move(*one));
    times.push_back(stands_for[i]);
  }
  return target::model_program(*gpu_, std::move(modelled), times);
}

}  // namespace ksearch::evaluate
