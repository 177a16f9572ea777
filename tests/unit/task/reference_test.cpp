#include "task/reference.h"

#include <gtest/gtest.h>

namespace ksearch::task {
namespace {

Task scale_task() {
  Task task;
  task.definition = *kernel::parse_definition(*base::parse_json(R"({
    "name": "scale", "axes": {"n": {"type": "var"}}, "params": {"by": "float32", "flip": "bool"},
    "inputs": {"x": {"shape": ["n"], "dtype": "bfloat16"}, "bias": {"shape": ["n"], "dtype": "float32", "optional": true},
               "state": {"shape": ["n"], "dtype": "float32", "access": "inout"}},
    "outputs": {"out": {"shape": ["n"], "dtype": "bfloat16"}}})",
                                                                "d"),
                                              "d");
  task.workloads = {*kernel::parse_workload(
      *base::parse_json(
          R"({"name": "w", "axes": {"n": 5}, "params": {"by": 0.5, "flip": true}, "absent": ["bias"]})",
          "w"),
      task.definition, "w")};
  task.reference_cpp = "extern \"C\" void reference(const ks_reference* call) { (void)call; }\n";
  return task;
}

TEST(Reference, ReadsInputsInFloat64AndWritesInoutElsewhere) {
  const Task task = scale_task();
  const auto shapes = *kernel::shapes_of(task.definition, task.workloads[0]);
  const auto tensors = reference_tensors(shapes, false);
  std::vector<std::string> names;
  for (const auto& t : tensors) {
    names.push_back(t.name);
    EXPECT_EQ(t.dtype, kernel::DType::float64);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"x", "state", "out", "state__after"}));
  EXPECT_EQ(tensors[1].access, kernel::Access::in);
  EXPECT_EQ(tensors[3].access, kernel::Access::out);
}

TEST(Reference, ArgumentsAreInputsOutputsAxesAndParameters) {
  const Task task = scale_task();
  const auto shapes = *kernel::shapes_of(task.definition, task.workloads[0]);
  const auto bound = bind_reference(task, task.workloads[0], shapes, 8);
  ASSERT_EQ(bound.launches.size(), 1u);
  const auto& launch = bound.launches[0];
  EXPECT_EQ(launch.groups, (std::array<std::int64_t, 3>{8, 1, 1}));
  ASSERT_EQ(launch.args.size(), 8u);
  const auto tensor = [&](std::size_t i) { return std::get<kernel::BoundTensor>(launch.args[i]); };
  EXPECT_EQ(tensor(0).tensor, "x");
  EXPECT_EQ(tensor(1).tensor, "");  // absent: null
  EXPECT_EQ(tensor(2).tensor, "state");
  EXPECT_EQ(tensor(3).tensor, "out");
  EXPECT_EQ(tensor(4).tensor, "state__after");
  EXPECT_TRUE(tensor(4).writes);
  EXPECT_EQ(std::get<std::int64_t>(std::get<kernel::BoundScalar>(launch.args[5]).value), 5);
  EXPECT_EQ(std::get<double>(std::get<kernel::BoundScalar>(launch.args[6]).value), 0.5);
  EXPECT_EQ(std::get<std::int64_t>(std::get<kernel::BoundScalar>(launch.args[7]).value), 1);
}

TEST(Reference, SourceHoldsTheInterfaceTheTaskAndAnEntryPoint) {
  const auto program = reference_program(scale_task());
  ASSERT_EQ(program.sources.size(), 1u);
  const std::string& text = program.sources[0].text;
  EXPECT_NE(text.find("struct ks_reference {"), std::string::npos);
  EXPECT_NE(text.find("#line 1 \"reference.cpp\""), std::string::npos);
  EXPECT_NE(
      text.find(
          "const double* in_x, const double* in_bias, const double* in_state, double* out_out, "
          "double* out_state, int64_t axis_n, float param_by, bool param_flip, "),
      std::string::npos);
}

TEST(Reference, FlashInferRunIsWrappedAndSetupIsNot) {
  Task task = scale_task();
  task.reference_py = "import torch\ndef run(x):\n    return x\n";
  EXPECT_NE(reference_script(task).find("def setup(case):"), std::string::npos);
  task.reference_py = "def setup(case):\n    return None\n";
  EXPECT_EQ(reference_script(task), task.reference_py);
}

}  // namespace
}  // namespace ksearch::task
