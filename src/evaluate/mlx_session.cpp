#include "evaluate/mlx_session.h"

#include <fmt/format.h>

#include "base/random.h"
#include "evaluate/engine_judge.h"
#include "evaluate/gpu_ground.h"
#include "target/metal/mlx_message.h"

namespace ksearch::evaluate {
namespace {

constexpr std::size_t kEveryShape = 1000000;
constexpr std::uint64_t kOrders = 1000;  // of SIMD-groups, by their seed

/// The chip's figures are data; its name is what MLX says.
kernel::HardwareProfile device_of(const MlxSessionOptions& options) {
  kernel::HardwareProfile device = target::as_hardware(options.engine.gpu);
  device.name = fmt::format("{}, MLX {}", options.mlx.device, options.mlx.version);
  return device;
}

base::Result<target::MlxNative> native_of(const task::LibraryOperation& operation,
                                          target::MlxOperation what,
                                          const kernel::Definition& definition,
                                          const kernel::Workload& workload) {
  target::MlxNative native{.what = what};
  const kernel::Scope scope = kernel::scope_of(definition, workload);
  if (operation.number) {
    KS_TRY(const double number, operation.number->eval_number(scope));
    native.number = static_cast<float>(number);
  }
  if (operation.causal) {
    KS_TRY(native.causal, operation.causal->eval_boolean(scope));
  }
  return native;
}

class OpenedMlx final : public OpenedSession {
 public:
  ~OpenedMlx() override { session_.reset(); }  // before what it borrows

  base::Result<void> start(const MlxSessionOptions& options, const Progress& progress) {
    dialect_ = kernel::Dialect::mlx;
    measures_gpu_ = true;
    gpu_ = options.engine.gpu;
    KS_TRY(ground_, GpuGround::lay(options.engine, task_));
    sandbox_ = ground_->sandbox().description();
    compiler_ = ground_->clang().version;
    const std::uint64_t seed = options.engine.seed;
    const base::Random seeds = base::Random(seed).fork("session");
    judge_ = std::make_unique<EngineJudge>(task_, gpu_, ground_->runner(gpu_), ground_->reference(),
                                           seed);
    KS_RETURN_IF_ERROR(judge_->open_truth());
    target_ = std::make_unique<target::MlxTarget>(
        target::MlxTargetOptions{.device = device_of(options),
                                 .worker = options.worker,
                                 .place = options.place,
                                 .seed = seeds.fork("target").next()});
    SessionOptions o;
    o.task = &task_;
    o.target = target_.get();
    o.reference_target = &ground_->reference();
    o.start_operation = [this](const task::Expert& expert) {
      return start_mlx_operation(*target_, expert, task_.definition);
    };
    o.watch = [this, order = seeds.fork("order").next() % kOrders](const kernel::Program& program,
                                                                   bool whole, std::string& at) {
      std::vector<simt::ScheduleChoice> orders{{"default", 0}};
      if (whole) orders = {{"default", 0}, {"reversed", 0}, {"random", order}};
      return judge_->check_tiny(program, whole ? kEveryShape : EngineJudge::kTinyInASearch, orders,
                                at);
    };
    o.ceilings_judge = false;
    o.seed = seed;
    o.timing = options.timing;
    o.ratio_width = options.ratio_width;
    o.basis = {{"compiler", compiler_},
               {"sandbox", sandbox_},
               {"mlx", options.mlx.version},
               {"gpu", {{"name", options.mlx.device}, {"architecture", options.mlx.architecture}}},
               {"times",
                fmt::format("measured by MLX {} on {}", options.mlx.version, options.mlx.device)}};
    KS_TRY(session_, Session::open(o, progress));
    return {};
  }

 private:
  target::GpuProfile gpu_;
  std::unique_ptr<GpuGround> ground_;
  std::unique_ptr<EngineJudge> judge_;
  std::unique_ptr<target::MlxTarget> target_;
};

}  // namespace

base::Result<std::unique_ptr<target::Worker>> start_mlx_operation(
    target::MlxTarget& target, const task::Expert& expert, const kernel::Definition& definition) {
  const task::LibraryOperation& operation = *expert.operation;
  const auto what = target::parse_mlx_operation(operation.what);
  if (!what)
    return base::usage_error(
        expert.path.string(),
        fmt::format("\"{}\" is no operation of MLX that is known here", operation.what));
  return target.start_native(
      [&definition, &operation, what](const kernel::Workload& w) {
        return native_of(operation, *what, definition, w);
      },
      operation.inputs);
}

base::Result<std::unique_ptr<OpenedSession>> open_mlx_session(const MlxSessionOptions& options,
                                                              const Progress& progress) {
  auto opened = std::make_unique<OpenedMlx>();
  KS_RETURN_IF_ERROR(opened->start(options, progress));
  return opened;
}

}  // namespace ksearch::evaluate
