#include "task/task.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ksearch::task {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone afterwards.
class TaskFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("ksearch_task_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    write(
        "definition.json",
        R"({"name": "twice", "axes": {"n": {"type": "var"}}, "types": {"T": ["float32", "bfloat16"]},
      "inputs": {"x": {"shape": ["n"], "dtype": "T"}}, "outputs": {"out": {"shape": ["n"], "dtype": "T"}},
      "generate": [{"kind": "normal", "tensors": ["x"]}]})");
    write("workloads.jsonl",
          R"({"name": "a", "role": "feedback", "axes": {"n": 64}, "types": {"T": "float32"}}
{"name": "b", "role": "feedback", "axes": {"n": 100}, "types": {"T": "bfloat16"}}

{"name": "c", "role": "heldout", "axes": {"n": 77}, "types": {"T": "float32"}}
{"name": "t", "role": "tiny", "axes": {"n": 1}, "types": {"T": "float32"}}
)");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  std::string fault() {
    const auto task = load_task(folder_);
    return task ? "" : task.error().text().substr(folder_.string().size() + 1);
  }

  fs::path folder_;
};

constexpr char kProgram[] = R"({"format": "ksearch.program/1", "task": "twice", "dialect": "cpp",
  "sources": [{"path": "k.cpp", "text": "extern \"C\" void k(const T* x, T* out, int64_t n, const ks_group*);"}],
  "defines": {"T": "T"},
  "launches": [{"kernel": "k", "groups": [1], "args": ["x", "out", {"i64": "n"}]}]})";

TEST_F(TaskFolder, LoadsEveryPart) {
  write("naive/cpp/program.json", kProgram);
  write("reference.cpp", "// reference\n");
  write("experts/torch.json", R"({"format": "ksearch.expert/1", "name": "torch", "kind": "python",
    "source": "with_torch.py", "supports": "T == float32", "requires": ["torch"]})");
  write("experts/with_torch.py", "def setup(case): pass\n");
  const auto task = load_task(folder_);
  ASSERT_TRUE(task) << task.error().text();
  EXPECT_EQ(task->definition.name, "twice");
  EXPECT_EQ(task->workloads.size(), 4u);
  EXPECT_EQ(task->with_role(kernel::Role::heldout).front().name, "c");
  EXPECT_EQ(task->naive.count(kernel::Dialect::cpp), 1u);
  EXPECT_EQ(task->reference_cpp, "// reference\n");
  ASSERT_EQ(task->experts.size(), 1u);
  EXPECT_EQ(task->experts[0].name, "torch");
  EXPECT_EQ(task->experts[0].path, folder_ / "experts/with_torch.py");
  EXPECT_EQ(task->needs(false), "");
}

TEST_F(TaskFolder, WithoutAReferenceItLoadsAndSaysWhatItNeeds) {
  const auto task = load_task(folder_);
  ASSERT_TRUE(task) << task.error().text();
  EXPECT_EQ(task->needs(true),
            "a reference: reference.cpp (see src/task/reference_api.h) or reference.py beside the "
            "definition");
}

TEST_F(TaskFolder, APythonReferenceNeedsAPython) {
  write("reference.py", "def setup(case): pass\n");
  const auto task = load_task(folder_);
  ASSERT_TRUE(task) << task.error().text();
  EXPECT_EQ(task->needs(true), "");
  EXPECT_EQ(task->needs(false),
            "its reference is in Python: a Python with numpy (--python PATH), or a reference.cpp "
            "beside the "
            "definition");
}

TEST_F(TaskFolder, VariantsAreExpertsOfTheirOwn) {
  write("experts/blas.program.json", kProgram);
  write("experts/blas.json", R"({"format": "ksearch.expert/1", "name": "blas", "kind": "cpp",
    "program": "blas.program.json", "library": {"package": "scipy_openblas32"},
    "variants": [{"name": "Haswell", "environment": {"OPENBLAS_CORETYPE": "Haswell"}},
                 {"name": "SkylakeX", "needs": "device.has_avx512f", "environment": {"OPENBLAS_CORETYPE": "SkylakeX"}}]})");
  const auto task = load_task(folder_);
  ASSERT_TRUE(task) << task.error().text();
  ASSERT_EQ(task->experts.size(), 2u);
  EXPECT_EQ(task->experts[0].name, "blas (Haswell)");
  EXPECT_EQ(task->experts[1].name, "blas (SkylakeX)");
  EXPECT_TRUE(task->experts[1].program);
  EXPECT_EQ(task->experts[1].library_package, "scipy_openblas32");
  EXPECT_EQ(task->experts[1].environment.at("OPENBLAS_CORETYPE"), "SkylakeX");
  ASSERT_TRUE(task->experts[1].needs);
}

TEST_F(TaskFolder, AnOperationOfALibraryIsAnExpert) {
  write("experts/op.json",
        R"({"format": "ksearch.expert/1", "name": "lib.op", "kind": "mlx-operation",
    "operation": "softmax", "inputs": ["x"], "number": "n / 2"})");
  const auto task = load_task(folder_);
  ASSERT_TRUE(task) << task.error().text();
  ASSERT_EQ(task->experts.size(), 1u);
  EXPECT_EQ(task->experts[0].operation->what, "softmax");
  EXPECT_EQ(task->experts[0].operation->inputs, std::vector<std::string>{"x"});
  EXPECT_TRUE(task->experts[0].operation->number);
  EXPECT_FALSE(task->experts[0].operation->causal);
  write("experts/op.json",
        R"({"format": "ksearch.expert/1", "name": "lib.op", "kind": "mlx-operation",
    "operation": "softmax", "inputs": ["y"]})");
  EXPECT_EQ(fault(), "experts/op.json: inputs: \"y\" is no tensor");
}

TEST_F(TaskFolder, FaultsNameFileAndPlace) {
  write("experts/x.json", R"({"format": "ksearch.expert/1", "name": "x", "kind": "fortran"})");
  EXPECT_EQ(fault(), "experts/x.json: kind: python, mlx-operation or a dialect is wanted");
  write("experts/x.json",
        R"({"format": "ksearch.expert/1", "name": "x", "kind": "python", "source": "../../x.py"})");
  EXPECT_EQ(fault(), "experts/x.json: ../../x.py is outside the folder");
}

TEST_F(TaskFolder, AWorkloadLineThatIsWrongNamesItsLine) {
  write("workloads.jsonl",
        "{\"name\": \"a\", \"axes\": {\"n\": 64}, \"types\": {\"T\": \"float32\"}}\n{\"name\": \n");
  EXPECT_EQ(fault().substr(0, 18), "workloads.jsonl:2:");
  write("workloads.jsonl",
        "{\"name\": \"a\", \"axes\": {\"n\": 64}, \"types\": {\"T\": \"float32\"}}\n"
        "{\"name\": \"a\", \"axes\": {\"n\": 65}, \"types\": {\"T\": \"float32\"}}\n");
  EXPECT_EQ(fault(), "workloads.jsonl:2: the name \"a\" is taken");
}

TEST_F(TaskFolder, ADialectInTheWrongFolderIsRefused) {
  write("naive/cuda/program.json", kProgram);
  EXPECT_EQ(fault(), "naive/cuda/program.json: is of dialect cpp, its folder says cuda");
}

TEST_F(TaskFolder, WhereKeepsWorkloadsOfEveryRole) {
  auto task = *load_task(folder_);
  ASSERT_TRUE(keep_where(task, "T == float32 and n >= 64"));
  std::vector<std::string> names;
  for (const auto& w : task.workloads) names.push_back(w.name);
  // Nothing tiny fits the sizes: those of the same types stay.
  EXPECT_EQ(names, (std::vector<std::string>{"a", "c", "t"}));
}

TEST_F(TaskFolder, WhereThatKeepsNothingToMeasureIsAnError) {
  auto task = *load_task(folder_);
  const auto kept = keep_where(task, "n > 1000");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().text(), "--where: \"n > 1000\" keeps no feedback workload of twice");
}

TEST_F(TaskFolder, WhereWithAnUnknownNameIsAnError) {
  auto task = *load_task(folder_);
  EXPECT_FALSE(keep_where(task, "rows > 3"));
  EXPECT_EQ(task.workloads.size(), 4u);
}

TEST_F(TaskFolder, FindsByNameFolderAndFile) {
  const std::vector<fs::path> path{"/nowhere", folder_.parent_path()};
  EXPECT_TRUE(fs::equivalent(*find_task(folder_.filename().string(), path), folder_));
  EXPECT_EQ(*find_task(folder_.string(), {}), folder_);
  EXPECT_EQ(*find_task((folder_ / "definition.json").string(), {}), folder_);
  EXPECT_FALSE(find_task("no_such_task", path));
}

TEST(Tasks, EveryTaskOfTheProjectLoads) {
  for (const fs::path& folder : list_tasks({fs::path(KSEARCH_SOURCE_DIR) / "tasks"})) {
    const auto task = load_task(folder);
    ASSERT_TRUE(task) << task.error().text();
    EXPECT_EQ(task->definition.name, folder.filename().string());
    EXPECT_EQ(task->needs(false), "") << task->definition.name;
    EXPECT_FALSE(task->with_role(kernel::Role::tiny).empty()) << task->definition.name;
    EXPECT_FALSE(task->with_role(kernel::Role::heldout).empty()) << task->definition.name;
    EXPECT_TRUE(task->naive.contains(kernel::Dialect::cpp)) << task->definition.name;
  }
}

}  // namespace
}  // namespace ksearch::task
