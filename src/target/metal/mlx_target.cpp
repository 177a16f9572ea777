#include "target/metal/mlx_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "os/files.h"
#include "os/process.h"
#include "target/metal/mlx_message.h"
#include "target/metal/mlx_plan.h"
#include "target/process_worker.h"

namespace ksearch::target {
namespace {
using base::Json;

constexpr std::chrono::milliseconds kStartLimit{20000};
constexpr std::chrono::seconds kAskLimit{60};  // the first use of a GPU after a start may take long
constexpr std::chrono::milliseconds kPrepareLimit{60000};

/// The `prepare` message: the work, and where its tensors lie in a set.
Json message_of(const Job& job, const Arena& set, const MlxWork& work) {
  Json tensors = Json::array();
  for (const TensorShape& t : job.tensors)
    tensors.push_back({t.name, set.find(t.name)->offset, t.bytes()});
  return {{"op", "prepare"},
          {"work", to_json(work)},
          {"tensors", std::move(tensors)},
          {"stride", set.bytes()},
          {"sets", job.sets}};
}

MlxTensor described(const TensorShape& t) { return {t.name, t.dtype, t.shape}; }

}  // namespace

std::filesystem::path mlx_worker() {
  return os::executable_path().parent_path() / "ksearch_mlx_worker";
}

MlxState ask_mlx(const std::filesystem::path& worker) {
  MlxState state;
  std::error_code code;
  if (!std::filesystem::exists(worker, code)) return state;
  const auto said = os::run({.argv = {worker.string(), "--state"}, .environment = {}}, kAskLimit);
  if (!said || said->status.code != 0) return state;
  const auto json = base::parse_json(said->output, worker.string());
  if (!json || !json->is_object()) return state;
  state.version = json->value("mlx", "");
  state.built_in = !state.version.empty();
  state.has_metal = json->value("metal", false);
  state.device = json->value("device", "");
  state.architecture = json->value("architecture", "");
  return state;
}

MlxTarget::MlxTarget(MlxTargetOptions options)
    : options_(std::move(options)), seeds_(options_.seed) {
  KS_CHECK(options_.device.kind == "metal", "MLX runs kernels on a GPU of Apple's");
}

std::optional<kernel::Verdict> MlxTarget::check(const kernel::Program& program) {
  if (program.dialect == kernel::Dialect::mlx) return std::nullopt;
  return kernel::Unsupported{
      fmt::format("MLX runs dialect mlx, not {}", kernel::name(program.dialect))};
}

std::variant<Executable, kernel::Verdict, kernel::Lost> MlxTarget::build(
    const BuildRequest& request) {
  KS_CHECK(request.program && request.plans, "a build has a program and its plans");
  for (const kernel::BoundProgram& plan : *request.plans)
    for (const kernel::BoundLaunch& launch : plan.launches)
      if (std::ranges::find(request.program->sources, launch.kernel + ".metal",
                            &kernel::Source::path) == request.program->sources.end())
        return kernel::Unsupported{fmt::format("kernel {}: {}.metal is its body; no source has it",
                                               launch.kernel, launch.kernel)};
  const std::string id = request.program->hash();
  built_.try_emplace(id, std::make_shared<const kernel::Program>(*request.program));
  return Executable{id, "", {{"kernels", request.program->sources.size()}}};
}

base::Result<std::unique_ptr<Worker>> MlxTarget::start(const Executable& executable, const Trust*) {
  const auto built = built_.find(executable.id);
  KS_CHECK(built != built_.end(), "it was built here");
  return start([program = built->second](const Job& job) {
    return mlx_work_of(*program, *job.plan, job.tensors);
  });
}

base::Result<std::unique_ptr<Worker>> MlxTarget::start_native(NativeOf native,
                                                              std::vector<std::string> inputs) {
  return start([native = std::move(native),
                inputs = std::move(inputs)](const Job& job) -> base::Result<MlxWork> {
    MlxWork work;
    for (const std::string& name : inputs) {
      const auto t = std::ranges::find(job.tensors, name, &TensorShape::name);
      if (t == job.tensors.end()) return base::usage_error(name, "is no tensor of this workload");
      work.inputs.push_back(described(*t));
    }
    for (const TensorShape& t : job.tensors)
      if (t.access == kernel::Access::out) work.outputs.push_back(t.name);
    if (work.outputs.size() != 1) return base::usage_error("MLX", "its operations have one output");
    KS_TRY(work.what, native(*job.workload));
    return work;
  });
}

base::Result<std::unique_ptr<Worker>> MlxTarget::start(WorkOf work_of) {
  KS_TRY(os::SharedMemory memory, os::SharedMemory::create("ksearch"));
  os::Command command;
  command.argv = options_.worker;
  KS_TRY(auto process, WorkerProcess::start(std::move(command), memory.descriptor(), kStartLimit));
  process->send(base::to_line({{"op", "load"}}));
  ProcessWorkerOptions options;
  options.prepare = [work_of = std::move(work_of), place = options_.place](
                        const Job& job,
                        const Arena& set) -> std::variant<Preparation, kernel::Verdict> {
    auto work = work_of(job);
    if (!work) return kernel::Verdict(kernel::Unsupported{work.error().text()});
    work->place = place;
    return Preparation{message_of(job, set, *work), Arena()};
  };
  options.prepare_limit = kPrepareLimit;
  options.seed = seeds_.next();
  options.moves_tensors = true;
  return std::make_unique<ProcessWorker>(std::move(process), std::move(memory), std::move(options));
}

}  // namespace ksearch::target
