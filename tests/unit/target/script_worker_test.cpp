#include "target/script_worker.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "unit/target/cpu_fixture.h"

namespace ksearch::target {
namespace {

/// An interpreter with numpy: $KSEARCH_TEST_PYTHON or the system's. Without one the tests are
/// skipped.
class ScriptWorker : public testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("KSEARCH_TEST_PYTHON");
    for (const std::string path : {named ? named : "", "/usr/bin/python3"}) {
      if (path.empty()) continue;
      const auto has = os::run({.argv = {path, "-c", "import numpy"}}, 60s);
      if (has && has->status.code == 0) python_ = path;
      if (!python_.empty()) return;
    }
    GTEST_SKIP() << "no Python with numpy: set KSEARCH_TEST_PYTHON";
  }

  /// As run_case: what setup and one call come to.
  Trial run(const std::string& script, int sets = 1, std::vector<std::string> modules = {}) {
    Trial trial;
    auto worker = start_script({.python = python_,
                                .script = "/nowhere/expert.py",
                                .text = script,
                                .requires_modules = std::move(modules),
                                .threads = 1});
    if (!worker) {
      trial.came_to = worker.error().text();
      return trial;
    }
    trial.worker = std::move(*worker);
    workload_.axes = {{"n", 6}};
    workload_.params = {{"scale", 0.5}, {"flag", true}};
    workload_.types = {{"T", kernel::DType::bfloat16}};
    Job job;
    job.workload = &workload_;
    job.tensors = {{"x", kernel::DType::float32, {2, 3}, kernel::Access::in},
                   {"half", kernel::DType::bfloat16, {4}, kernel::Access::in},
                   {"out", kernel::DType::float32, {2, 3}, kernel::Access::out}};
    job.sets = sets;
    const auto failed = [&](const auto& reply) {
      if (const auto* verdict = std::get_if<kernel::Verdict>(&reply))
        trial.came_to = text(*verdict);
      if (const auto* lost = std::get_if<kernel::Lost>(&reply))
        trial.came_to = "Lost: " + lost->reason;
      return !trial.came_to.empty();
    };
    if (failed(trial.worker->prepare(job))) return trial;
    for (int set = 0; set < sets; ++set)
      for (std::size_t i = 0; i < 6; ++i)
        floats(*trial.worker, "x", set)[i] =
            static_cast<float>(i + 10 * static_cast<std::size_t>(set));
    std::vector<int> order;
    for (int set = 0; set < sets; ++set) order.push_back(set);
    const auto reply = trial.worker->run(order, false, 60s);
    if (failed(reply)) return trial;
    trial.done = std::get<Done>(reply);
    const auto out = floats(*trial.worker, "out", sets - 1);
    trial.out.assign(out.begin(), out.end());
    trial.came_to = "done";
    return trial;
  }

  std::string python_;
  kernel::Workload workload_;
};

TEST_F(ScriptWorker, CallsTheExpertOnViewsOfTheSharedMemory) {
  const Trial trial = run(
      "def setup(case):\n"
      "    assert case.axes == {'n': 6} and case.types == {'T': 'bfloat16'} and case.threads == 1\n"
      "    assert case.params == {'scale': 0.5, 'flag': True} and case.params['flag'] is True\n"
      "    def run(inputs, outputs):\n"
      "        assert inputs['half'].dtype == 'uint16' and inputs['x'].shape == (2, 3)\n"
      "        outputs['out'][...] = inputs['x'] * case.params['scale']\n"
      "    return run\n",
      3);
  ASSERT_EQ(trial.came_to, "done");
  EXPECT_EQ(trial.out, (std::vector<float>{10, 10.5f, 11, 11.5f, 12, 12.5f}));
  EXPECT_EQ(trial.done.call_ns.size(), 3u);
  EXPECT_TRUE(trial.worker->about().at("versions").contains("numpy"));
  EXPECT_TRUE(trial.worker->canaries(0).empty());
}

TEST_F(ScriptWorker, AReferenceKeepsItsArrays) {
  const Trial trial =
      run("def setup(case):\n"
          "    def call():\n"
          "        case.outputs['out'][...] = case.inputs['x'] + 1\n"
          "    return call\n");
  ASSERT_EQ(trial.came_to, "done");
  EXPECT_EQ(trial.out, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(ScriptWorker, AMissingModuleIsUnsupportedAndNamed) {
  const std::string wanted = "Unsupported: no module no_such_module in ";
  EXPECT_TRUE(run("import no_such_module\n").came_to.starts_with(wanted));
  EXPECT_TRUE(run("x = 1", 1, {"no_such_module"}).came_to.starts_with(wanted));
}

TEST_F(ScriptWorker, ACaseThatIsNotSupportedIsUnsupported) {
  EXPECT_EQ(run("def setup(case):\n    raise NotImplementedError('only float32')\n").came_to,
            "Unsupported: only float32");
}

TEST_F(ScriptWorker, AnExceptionIsToldWithItsPlace) {
  EXPECT_EQ(run("def setup(case):\n    return lambda inputs, outputs: 1 / 0\n").came_to,
            "Crashed: ZeroDivisionError: division by zero (expert.py:2)");
  EXPECT_EQ(run("def setup(case):\n    return lambda inputs, outputs: __import__('os')._exit(3)\n")
                .came_to,
            "Crashed: left with status 3 in the middle of a call");
}

TEST_F(ScriptWorker, SyntaxErrorsAreTold) {
  EXPECT_TRUE(run("def setup(case:\n").came_to.starts_with("Crashed: SyntaxError: "));
}

TEST_F(ScriptWorker, SeesAnEnvironmentOfItsOwn) {
  ::setenv("KSEARCH_SECRET", "hunter2", 1);
  const Trial trial =
      run("import os\n"
          "def setup(case):\n"
          "    def run(inputs, outputs):\n"
          "        outputs['out'][...] = float('KSEARCH_SECRET' in os.environ) + 10 * "
          "float(os.environ['OMP_NUM_THREADS'])\n"
          "    return run\n");
  ::unsetenv("KSEARCH_SECRET");
  ASSERT_EQ(trial.came_to, "done");
  EXPECT_EQ(trial.out[0], 10);
}

TEST(StartScript, AMissingInterpreterIsAnErrorThatNamesIt) {
  const auto worker =
      start_script({.python = "/no/such/python", .script = "e.py", .text = "x = 1"});
  ASSERT_FALSE(worker);
  EXPECT_NE(worker.error().text().find("/no/such/python"), std::string::npos);
}

TEST(PythonLibrary, AMissingPackageSaysHowToGetIt) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "needs python3";
  const auto trust = python_library("/usr/bin/python3", "no_such_package");
  ASSERT_FALSE(trust);
  EXPECT_EQ(trust.error().todo, "pip install no_such_package");
}

}  // namespace
}  // namespace ksearch::target
