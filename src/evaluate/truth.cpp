#include "evaluate/truth.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "base/check.h"

namespace ksearch::evaluate {
namespace {

/// Float64 on the slowest machine takes long; a hang must end all the same.
constexpr std::chrono::minutes kLimit{5};
/// Parts of a reference call for each thread, so that uneven parts (causal rows) even out.
constexpr int kPartsPerThread = 4;

base::Error unusable(const task::Task& task, std::string what) {
  return base::Error{base::ErrorKind::environment,
                     fmt::format("reference of {}", task.definition.name),
                     std::move(what),
                     {}};
}

}  // namespace

base::Result<std::unique_ptr<Truth>> Truth::open(const task::Task& task, target::Target& cpu,
                                                 const StartScript& start_script,
                                                 std::uint64_t seed) {
  auto truth = std::unique_ptr<Truth>(new Truth);
  truth->task_ = &task;
  truth->cpu_ = &cpu;
  truth->start_script_ = start_script;
  truth->seed_ = seed;
  truth->pool_ = task::NoisePool::make(seed);
  const std::string needs = task.needs(start_script != nullptr);
  if (!needs.empty())
    return base::environment_error(task.definition.name, "cannot be evaluated",
                                   "it needs " + needs);
  KS_RETURN_IF_ERROR(truth->make_makers());
  if (!task.reference_cpp.empty()) {
    const kernel::Program program = task::reference_program(task);
    std::vector<kernel::BoundProgram> plans;
    for (const kernel::Workload& w : task.workloads)
      plans.push_back(task::bind_reference(task, w, truth->maker(w).tensors(), 1));
    auto built = cpu.build({.program = &program, .plans = &plans});
    if (auto* e = std::get_if<target::Executable>(&built))
      truth->executable_ = std::move(*e);
    else if (auto* l = std::get_if<kernel::Lost>(&built))
      return std::unexpected(unusable(task, l->reason));
    else
      return std::unexpected(unusable(task, text(Failure(std::get<kernel::Verdict>(built)))));
  }
  auto started = truth->start();
  if (!started) return std::unexpected(unusable(task, started.error().reason));
  return truth;
}

base::Result<void> Truth::make_makers() {
  for (const kernel::Workload& w : task_->workloads) {
    KS_TRY(task::InputMaker maker, task::InputMaker::make(task_->definition, w, seed_, pool_));
    makers_.insert_or_assign(w.name, std::move(maker));
  }
  return {};
}

const task::InputMaker& Truth::maker(const kernel::Workload& workload) {
  const auto found = makers_.find(workload.name);
  KS_CHECK(found != makers_.end(), "a workload of the task");
  return found->second;
}

std::expected<void, kernel::Lost> Truth::start() {
  prepared_.clear();
  if (executable_) {
    auto worker = cpu_->start(*executable_);
    if (!worker) return std::unexpected(kernel::Lost{worker.error().text()});
    worker_ = std::move(*worker);
    return {};
  }
  task::Expert script;
  script.name = "reference";
  script.script_text = task::reference_script(*task_);
  auto worker = start_script_(script);
  if (!worker) return std::unexpected(kernel::Lost{worker.error().text()});
  worker_ = std::move(*worker);
  return {};
}

std::expected<const Outputs*, kernel::Lost> Truth::of(const kernel::Workload& workload,
                                                      const task::Content& content, bool keep) {
  const auto key = std::make_tuple(workload.name, content.set, content.variant);
  if (const auto found = known_.find(key); found != known_.end()) return &found->second;
  KS_TRY(Outputs outputs, compute(workload, content, nullptr, {}));
  if (keep) return &known_.emplace(key, std::move(outputs)).first->second;
  last_ = std::move(outputs);
  return &last_;
}

std::expected<const Outputs*, kernel::Lost> Truth::perturbed(const kernel::Workload& workload,
                                                             const task::Content& content,
                                                             const std::string& input,
                                                             const task::Content& from) {
  KS_TRY(last_, compute(workload, content, &input, from));
  return &last_;
}

std::expected<Outputs, kernel::Lost> Truth::compute(const kernel::Workload& workload,
                                                    const task::Content& content,
                                                    const std::string* perturbed,
                                                    const task::Content& from) {
  const auto fail = [&](std::string why) {
    worker_.reset();
    return std::unexpected(kernel::Lost{fmt::format("the reference of {} failed on {}: {}",
                                                    task_->definition.name, workload.name, why)});
  };
  if (!worker_) KS_RETURN_IF_ERROR(start());
  const task::InputMaker& inputs = maker(workload);
  const std::vector<kernel::TensorShape> tensors =
      task::reference_tensors(inputs.tensors(), !executable_);
  if (prepared_ != workload.name) {
    const int parts = kPartsPerThread * static_cast<int>(cpu_->device().cores);
    plan_ = task::bind_reference(*task_, workload, inputs.tensors(), parts);
    target::Job job;
    job.workload = &workload;
    job.plan = executable_ ? &plan_ : nullptr;
    job.tensors = tensors;
    auto reply = worker_->prepare(job);
    if (auto* v = std::get_if<kernel::Verdict>(&reply)) return fail(text(Failure(*v)));
    if (auto* l = std::get_if<kernel::Lost>(&reply)) return fail(l->reason);
    prepared_ = workload.name;
  }
  const auto doubles = [&](const std::string& name) {
    const std::span<std::byte> bytes = worker_->bytes(0, name);
    return std::span<double>(reinterpret_cast<double*>(bytes.data()),
                             bytes.size() / sizeof(double));
  };
  std::vector<std::byte> native;
  for (const kernel::TensorShape& t : inputs.tensors()) {
    if (t.access == kernel::Access::out) continue;
    const task::Content& source = perturbed && *perturbed == t.name ? from : content;
    if (!executable_ && !kernel::is_float(t.dtype)) {
      inputs.fill(source, t.name, worker_->bytes(0, t.name));
      continue;
    }
    native.resize(t.bytes());
    inputs.fill(source, t.name, native);
    task::to_doubles(t.dtype, native, doubles(t.name));
  }
  const Poison poison{0x5eed};
  for (const kernel::TensorShape& t : tensors)
    if (t.access == kernel::Access::out) poison.fill(t.dtype, worker_->bytes(0, t.name));
  const int order[] = {0};
  target::RunReply reply = worker_->run(order, false, kLimit);
  if (auto* v = std::get_if<kernel::Verdict>(&reply)) return fail(text(Failure(*v)));
  if (auto* l = std::get_if<kernel::Lost>(&reply)) return fail(l->reason);

  Outputs outputs;
  for (const kernel::TensorShape& t : inputs.tensors()) {
    if (t.access == kernel::Access::in) continue;
    const std::span<double> result = doubles(task::reference_output(t));
    for (std::size_t i = 0; i < result.size(); ++i)
      if (std::isnan(result[i]))
        return fail(fmt::format("its {} is NaN or was not written at element {}", t.name, i));
    outputs.emplace_back(result.begin(), result.end());
  }
  return outputs;
}

}  // namespace ksearch::evaluate
