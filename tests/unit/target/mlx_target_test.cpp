// The measured Metal target against the real MLX: work made of plans, its way to the worker and
// back, MLX's own operations run there on the CPU, and what becomes of kernels without a GPU.
#include "target/metal/mlx_target.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "target/metal/mlx_message.h"
#include "target/metal/mlx_plan.h"
#include "task/task.h"

namespace ksearch::target {
namespace {
using kernel::Access;
using kernel::DType;
using testing::HasSubstr;

kernel::HardwareProfile some_gpu() {
  kernel::HardwareProfile device;
  device.name = "a GPU";
  device.kind = "metal";
  device.simd_width = 32;
  device.max_group_size = 1024;
  return device;
}

task::Task softmax_task() {
  auto task = task::load_task(std::filesystem::path(KSEARCH_SOURCE_DIR) / "tasks/softmax", "metal");
  EXPECT_TRUE(task) << task.error().text();
  return std::move(*task);
}

const kernel::Workload& tiny(const task::Task& task) {
  for (const kernel::Workload& w : task.workloads)
    if (w.role == kernel::Role::tiny && w.axes.at("cols") > 1 && w.types.at("T") == DType::float32)
      return w;
  std::abort();
}

std::vector<TensorShape> tensors_of(const kernel::Workload& w) {
  const std::vector<std::int64_t> shape{w.axes.at("rows"), w.axes.at("cols")};
  return {{"x", DType::float32, shape, Access::in}, {"out", DType::float32, shape, Access::out}};
}

kernel::BoundProgram bound(const task::Task& task, const kernel::Program& program) {
  auto plan = kernel::bind(program, task.definition, tiny(task), some_gpu(), {});
  EXPECT_TRUE(plan) << plan.error().text();
  return std::move(*plan);
}

const kernel::Program& naive(const task::Task& task) { return task.naive.at(kernel::Dialect::mlx); }

TEST(MlxPlan, ALaunchBecomesACallOfMetalKernel) {
  const task::Task task = softmax_task();
  const auto work = mlx_work_of(naive(task), bound(task, naive(task)), tensors_of(tiny(task)));
  ASSERT_TRUE(work) << work.error().text();
  ASSERT_EQ(work->kernels.size(), 1u);
  EXPECT_EQ(work->kernels[0].name, "softmax");
  EXPECT_THAT(work->kernels[0].source, HasSubstr("thread_position_in_grid"));
  EXPECT_EQ(work->outputs, std::vector<std::string>{"out"});
  const auto& launches = std::get<std::vector<MlxLaunch>>(work->what);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].inputs, std::vector<std::string>{"x"});
  ASSERT_EQ(launches[0].numbers.size(), 2u);
  EXPECT_EQ(launches[0].numbers[1].name, "cols");
  std::int32_t cols = 0;
  ASSERT_EQ(launches[0].numbers[1].bytes.size(), sizeof(cols));
  std::memcpy(&cols, launches[0].numbers[1].bytes.data(), sizeof(cols));
  EXPECT_EQ(cols, tiny(task).axes.at("cols"));
  EXPECT_EQ(launches[0].threads[0] % 32, 0);
  ASSERT_EQ(launches[0].arguments.size(), 1u);
  EXPECT_EQ(std::get<DType>(launches[0].arguments[0].second), DType::float32);
}

TEST(MlxPlan, SaysWhatMlxHasNot) {
  const task::Task task = softmax_task();
  const auto fault = [&](auto&& change) {
    kernel::BoundProgram plan = bound(task, naive(task));
    change(plan);
    const auto work = mlx_work_of(naive(task), plan, tensors_of(tiny(task)));
    return work ? std::string("none") : work.error().text();
  };
  EXPECT_THAT(fault([](auto& p) { p.launches[0].kernel = "other"; }),
              HasSubstr("other.metal is its body"));
  EXPECT_THAT(fault([](auto& p) { p.launches[0].args.push_back(kernel::BoundStruct{}); }),
              HasSubstr("MLX takes no parameter structs"));
  EXPECT_THAT(fault([](auto& p) {
                p.launches[0].args.push_back(kernel::BoundTensor{"x", 4, false, {}, {}});
              }),
              HasSubstr("x has an offset"));
  EXPECT_THAT(fault([](auto& p) {
                p.launches[0].args.push_back(kernel::BoundTensor{"x", 0, true, {}, {}});
              }),
              HasSubstr("MLX writes none in place"));
  EXPECT_THAT(fault([](auto& p) {
                p.launches[0].group_size = {64, 32, 1};
              }),
              HasSubstr("2048 threads in a group"));
  EXPECT_THAT(fault([](auto& p) {
                p.launches[0].instantiate = {{"T", "1.5"}};
              }),
              HasSubstr("template argument T is 1.5"));
}

TEST(MlxMessage, WorkComesBackAsItWent) {
  MlxWork work{.inputs = {{"x", DType::bfloat16, {2, 3}}},
               .kernels = {{"k", "body\n\"", "#define A 1\n", true, true}},
               .what = {},
               .outputs = {"out"},
               .place = MlxPlace::cpu};
  MlxLaunch launch;
  launch.inputs = {"x"};
  const float infinity = -INFINITY;
  launch.numbers = {{"n", DType::float32, {}, {reinterpret_cast<const char*>(&infinity), 4}}};
  launch.outputs = {{"out", DType::float16, {6}}};
  launch.init = 0.1F;
  launch.threads = {1 << 20, 2, 3};
  launch.arguments = {{"T", DType::bfloat16}, {"N", -3}, {"B", true}};
  work.what = std::vector{launch};
  const base::Json json = to_json(work);
  const MlxWork again = parse_mlx_work(json);
  EXPECT_EQ(to_json(again), json);
  const auto& back = std::get<std::vector<MlxLaunch>>(again.what)[0];
  EXPECT_EQ(back.numbers[0].bytes, launch.numbers[0].bytes);
  EXPECT_EQ(back.init, launch.init);
  EXPECT_EQ(back.arguments, launch.arguments);
  work.what = MlxNative{MlxOperation::attention, 0.37F, true};
  EXPECT_EQ(std::get<MlxNative>(parse_mlx_work(to_json(work)).what).number, 0.37F);
}

class MlxTargetTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!mlx_state().built_in) GTEST_SKIP() << "built without MLX";
  }
  static MlxTarget target(MlxPlace place) {
    return MlxTarget(
        {.device = some_gpu(), .worker = {KSEARCH_MLX_WORKER, "serve"}, .place = place, .seed = 1});
  }
  static std::string refusal(Worker& worker, const Job& job) {
    const auto prepared = worker.prepare(job);
    kernel::Outcome outcome;
    if (const auto* v = std::get_if<kernel::Verdict>(&prepared)) {
      outcome.verdict = *v;
      return kernel::summary(outcome);
    }
    const int order[] = {0};
    const RunReply reply = worker.run(order, false, std::chrono::seconds(20));
    if (const auto* v = std::get_if<kernel::Verdict>(&reply)) outcome.verdict = *v;
    return std::holds_alternative<Done>(reply) ? "ran" : kernel::summary(outcome);
  }
  task::Task task_ = softmax_task();
};

TEST_F(MlxTargetTest, ItsOwnOperationRunsOnTheSetsInTheOrderAsked) {
  MlxTarget mlx = target(MlxPlace::cpu);
  const auto softmax = [](const kernel::Workload&) { return MlxNative{}; };
  auto worker = mlx.start_native(softmax, {"x"});
  ASSERT_TRUE(worker) << worker.error().text();
  Job job;
  job.workload = &tiny(task_);
  job.tensors = tensors_of(tiny(task_));
  job.sets = 2;
  const auto prepared = (*worker)->prepare(job);
  ASSERT_TRUE(std::holds_alternative<std::monostate>(prepared));
  EXPECT_TRUE((*worker)->about()["versions"].contains("mlx"));
  const auto cols = static_cast<std::size_t>(tiny(task_).axes.at("cols"));
  const auto floats = [&](int set, const char* name) {
    const auto bytes = (*worker)->bytes(set, name);
    return std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
  };
  for (const int set : {0, 1}) {
    for (std::size_t i = 0; i < floats(set, "x").size(); ++i)
      floats(set, "x")[i] = static_cast<float>(i % cols) * static_cast<float>(set);
    std::ranges::fill(floats(set, "out"), NAN);
  }
  const int order[] = {1, 0, 1};
  const RunReply reply = (*worker)->run(order, false, std::chrono::seconds(20));
  ASSERT_TRUE(std::holds_alternative<Done>(reply));
  const Done& done = std::get<Done>(reply);
  EXPECT_EQ(done.call_ns.size(), 3u);
  EXPECT_GT(done.bracket_ns, 0);
  double sum = 0;
  for (std::size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(c));
  for (std::size_t i = 0; i < floats(0, "out").size(); ++i) {
    EXPECT_NEAR(floats(0, "out")[i], 1.0 / static_cast<double>(cols), 1e-6);
    EXPECT_NEAR(floats(1, "out")[i], std::exp(static_cast<double>(i % cols)) / sum, 1e-6);
    EXPECT_EQ(floats(1, "x")[i], static_cast<float>(i % cols));
  }
  EXPECT_TRUE((*worker)->canaries(1).empty());
}

TEST_F(MlxTargetTest, WithoutAGpuAProgramHasACleanEnd) {
  if (ask_mlx(KSEARCH_MLX_WORKER).has_metal) GTEST_SKIP() << "there is a Metal device here";
  const std::vector<kernel::BoundProgram> plans{bound(task_, naive(task_))};
  Job job;
  job.workload = &tiny(task_);
  job.plan = &plans[0];
  job.tensors = tensors_of(tiny(task_));
  for (const auto& [place, words] :
       {std::pair(MlxPlace::gpu, "no Metal device"), std::pair(MlxPlace::cpu, "[metal_kernel]")}) {
    MlxTarget mlx = target(place);
    EXPECT_FALSE(mlx.check(naive(task_)));
    const auto built = mlx.build({.program = &naive(task_), .plans = &plans});
    ASSERT_TRUE(std::holds_alternative<Executable>(built));
    auto worker = mlx.start(std::get<Executable>(built));
    ASSERT_TRUE(worker) << worker.error().text();
    EXPECT_THAT(refusal(**worker, job), HasSubstr(words));
  }
}

TEST_F(MlxTargetTest, ProgramsOfAnotherDialectAreUnsupported) {
  kernel::Program other = naive(task_);
  other.dialect = kernel::Dialect::cpp;
  const auto verdict = target(MlxPlace::cpu).check(other);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(std::holds_alternative<kernel::Unsupported>(*verdict));
}

TEST(AskMlx, WhereThereIsNoSuchProgramThereIsNothing) {
  EXPECT_FALSE(ask_mlx("/nowhere/ksearch_mlx_worker").built_in);
}

}  // namespace
}  // namespace ksearch::target
