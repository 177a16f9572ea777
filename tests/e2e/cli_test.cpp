// The program as a person uses it: commands, exit codes, what stands on standard output; a task of
// one's own from new-task to the exported function; Ctrl-C, kill and resume.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/json.h"
#include "os/process.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = os::TempFolder::create("ksearch-cli-");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  os::Command command(std::vector<std::string> arguments) const {
    os::Command c;
    c.argv = {KSEARCH_PROGRAM};
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = os::current_environment();
    c.environment["NO_COLOR"] = "1";
    c.environment["LC_ALL"] = "C.UTF-8";
    c.folder = folder_->path();
    return c;
  }
  struct Ran {
    int code = -1;
    std::string output;
  };
  Ran run(std::vector<std::string> arguments) const {
    const auto finished = os::run(command(std::move(arguments)), 5min, 1 << 20);
    if (!finished) return {-1, finished.error().text()};
    return {finished->status.code, finished->output};
  }
  /// The JSON object that ends the output: with --json nothing comes after it.
  static base::Json last_object(const std::string& output) {
    const std::size_t begin = output.starts_with("{") ? 0 : output.rfind("\n{\n") + 1;
    const auto json = base::parse_json(output.substr(begin), "output");
    EXPECT_TRUE(json) << output;
    return json ? *json : base::Json();
  }
  /// Or right, on a machine that is too noisy to certify a time.
  static bool certified(const Ran& ran, const base::Json& summary) {
    const bool noisy = ran.output.find("too noisy to certify") != std::string::npos;
    return noisy ? ran.code == 1 && summary["best"]["certificate"] == "failed"
                 : ran.code == 0 && summary["status"] == "passed" &&
                       summary["best"]["certificate"] == "passed";
  }
  std::optional<os::TempFolder> folder_;
};

TEST_F(Cli, HelpListsWhatThereIsAndExitsWithZero) {
  const Ran help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* name : {"run", "resume", "eval", "spec", "report", "compare", "export", "tasks",
                           "devices", "new-task"})
    EXPECT_NE(help.output.find(std::string("\n  ") + name), std::string::npos) << name;
}

TEST_F(Cli, MeasuringOnAGpuThatIsNotHereExitsWithThree) {
#ifdef __APPLE__
  GTEST_SKIP() << "a Metal device may be here";
#endif
  for (const char* command : {"run", "spec"}) {
    const Ran ran = run({command, "softmax", "--target", "metal", "--device", "here"});
    EXPECT_EQ(ran.code, 3) << ran.output;
    EXPECT_NE(ran.output.find("--device here"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("without --device the engine runs"), std::string::npos) << ran.output;
  }
}

TEST_F(Cli, MistakesExitWithTwoAndSayWhatToDo) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"fly"}).code, 2);
  EXPECT_EQ(run({"run", "softmax", "--time", "soon"}).code, 2);
  EXPECT_EQ(run({"run", "softmax", "--where", "Q == 1"}).code, 2);
  EXPECT_EQ(run({"run", "softmax", "--python", "/nowhere"}).code, 2);
  const Ran misspelt = run({"run", "sofmax"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_NE(misspelt.output.find("did you mean softmax?"), std::string::npos) << misspelt.output;
  const Ran nothing = run({"report"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.output.find("ksearch run TASK"), std::string::npos) << nothing.output;
}

TEST_F(Cli, AnEmptyValueStandsForNoDefault) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", ""},
                                             {"run", "softmax", "--out", ""},
                                             {"run", "softmax", "--where", ""},
                                             {"check", ""},
                                             {"export", ""}}) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.code, 2) << ran.output;
    EXPECT_NE(ran.output.find("is empty"), std::string::npos) << ran.output;
  }
}

TEST_F(Cli, ErrorsNameWhatWasWrongAndWhatIsThere) {
  const auto expect = [&](std::vector<std::string> arguments, const std::string& words) {
    const Ran ran = run(std::move(arguments));
    EXPECT_EQ(ran.code, 2) << ran.output;
    EXPECT_NE(ran.output.find(words), std::string::npos) << ran.output;
  };
  expect({"run", "softmax", "--where", "x"}, "--where: \"x\"");
  expect({"run", "/"}, "/: is no folder of a task");
  std::ofstream(folder_->path() / "empty.json") << "{}";
  expect({"export", "empty.json"}, "empty.json: names no task");
  const fs::path examples = fs::path(KSEARCH_SOURCE_DIR) / "examples/attention-metal";
  expect({"report", "no/such/run"}, "no/such/run: is not there");
  expect({"export", "no/such/program"}, "no/such/program: is not there");
  expect({"eval", "softmax", "no/such/program"}, "no/such/program: is not there");
  expect({"report", examples.string()}, (examples / "from_prompts").string());
  expect({"replay", (examples / "from_prompts").string()}, "before answers of dir:");
  std::ofstream(folder_->path() / "k.metal")
      << "#include <metal_stdlib>\nkernel void k(device float* x [[buffer(0)]]) { x[0] = 1; }\n";
  expect({"check", "k.metal", "--kernel", "k"}, "--buffer");
}

TEST_F(Cli, AFullDiskIsAnErrorThatNamesTheFile) {
  os::Command c = command({"devices"});
  c.argv = {"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" devices", c.argv.front()};
  c.environment["XDG_CACHE_HOME"] = folder_->path();
  const auto ran = os::run(c, 5min, 1 << 20);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->status.code, 3) << ran->output;
  EXPECT_NE(ran->output.find(folder_->path().string()), std::string::npos) << ran->output;
  c = command({"devices"});
  c.environment["XDG_CACHE_HOME"] = "/dev/null/cache";
  const auto unwritable = os::run(c, 5min, 1 << 20);
  ASSERT_TRUE(unwritable);
  EXPECT_EQ(unwritable->status.code, 3);
  EXPECT_NE(unwritable->output.find("XDG_CACHE_HOME"), std::string::npos) << unwritable->output;
}

TEST_F(Cli, CtrlCWhileASessionOpensLeavesAtOnceAndNothingBehind) {
  os::Command c = command({"run", "softmax", "--threads", "1", "--out", "found"});
  c.argv = {"/bin/sh",       "-c",  "exec \"$0\" \"$@\" > said 2>&1",
            KSEARCH_PROGRAM, "run", "softmax",
            "--threads",     "1",   "--out",
            "found"};
  auto process = os::Process::start(c);
  ASSERT_TRUE(process);
  const fs::path lock = folder_->path() / "found/lock";
  for (int i = 0; i < 3000 && !fs::exists(lock); ++i) std::this_thread::sleep_for(10ms);
  const Ran other = run({"run", "softmax", "--out", "found"});
  EXPECT_EQ(other.code, 3) << other.output;
  EXPECT_NE(other.output.find("another process"), std::string::npos) << other.output;
  ::kill(process->pid(), SIGINT);
  const auto status = process->wait(60s);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 130);
  EXPECT_FALSE(fs::exists(lock.parent_path()));
  const std::string said = os::read_file(folder_->path() / "said").value_or("");
  EXPECT_NE(said.find("stopped: no run was begun"), std::string::npos) << said;
  EXPECT_EQ(said.find("resume"), std::string::npos) << said;
}

TEST_F(Cli, TasksAndDevicesSayWhatTheyAre) {
  const Ran tasks = run({"tasks", "--json"});
  ASSERT_EQ(tasks.code, 0) << tasks.output;
  const auto json = base::parse_json(tasks.output, "tasks");
  ASSERT_TRUE(json) << tasks.output;
  std::vector<std::string> names;
  for (const auto& task : *json) {
    names.push_back(task["name"]);
    for (const char* target : {"cpu", "metal"})
      EXPECT_GT(task["catalog_steps"][target].get<int>(), 0) << task;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"attention", "attention_decode", "matmul", "moe_routing",
                                      "paged_attention", "rms_norm", "selective_scan", "softmax"}));
  const Ran devices = run({"devices", "--json"});
  ASSERT_EQ(devices.code, 0) << devices.output;
  EXPECT_GT(last_object(devices.output)["devices"][0]["float32_flops"].get<double>(), 1e8);
}

// From nothing to a function in the user's own program.
TEST_F(Cli, ANewTaskSearchesReportsAndExports) {
  ASSERT_EQ(run({"new-task", "row_dot"}).code, 0);
  EXPECT_EQ(run({"new-task", "row_dot"}).code, 2) << "an existing folder is left alone";
  EXPECT_EQ(run({"new-task", "row-dot"}).code, 2) << "a name has no hyphen";
  EXPECT_EQ(run({"new-task", "int"}).code, 2) << "a word of C++";
  const Ran searched =
      run({"run", "row_dot", "--time", "30s", "--threads", "1", "--out", "found", "--json"});
  const base::Json summary = last_object(searched.output);
  EXPECT_TRUE(certified(searched, summary)) << searched.output;
  EXPECT_EQ(summary["best"]["path"].back(), "wide_sums");

  const Ran report = run({"report", "found"});
  EXPECT_EQ(report.code, 0);
  EXPECT_NE(report.output.find("Many sums at once"), std::string::npos) << report.output;
  const Ran resumed = run({"resume", "found", "--json"});
  EXPECT_EQ(resumed.code, searched.code);
  EXPECT_EQ(last_object(resumed.output)["best"]["program"], summary["best"]["program"]);

  const Ran exported = run({"export", "found", "--as", "cpp"});
  ASSERT_EQ(exported.code, 0) << exported.output;
  const fs::path out = folder_->path() / "export-row_dot";
  std::ofstream(folder_->path() / "main.cpp") << R"(
#include <cstdio>
#include "row_dot.h"
int main() {
  float x[6] = {1, 2, 3, 4, 5, 6}, w[3] = {1, 10, 100}, out[2] = {};
  const int status = row_dot_f32(x, w, out, 2, 3, 2, nullptr);
  std::printf("%d %g %g\n", status, out[0], out[1]);
})";
  os::Command compile;
  compile.argv = {"/usr/bin/env",
                  "g++",
                  "-std=c++20",
                  "-Wall",
                  "-Wextra",
                  "-Werror",
                  "-march=native",
                  "-pthread",
                  "-I" + out.string(),
                  "main.cpp",
                  (out / "row_dot.cpp").string(),
                  "-o",
                  "main"};
  compile.environment = os::current_environment();
  compile.folder = folder_->path();
  const auto compiled = os::run(compile, 1min);
  ASSERT_TRUE(compiled && compiled->status.code == 0) << (compiled ? compiled->output : "");
  os::Command call;
  call.argv = {(folder_->path() / "main").string()};
  EXPECT_EQ(os::run(call, 10s)->output, "0 321 654\n");
}

TEST_F(Cli, InterruptedAndKilledRunsGoOn) {
  ASSERT_EQ(run({"new-task", "row_dot"}).code, 0);
  for (const int signal : {SIGINT, SIGKILL}) {
    const std::string out = "run" + std::to_string(signal);
    auto process = os::Process::start(command({"run", "row_dot", "--threads", "1", "--out", out}));
    ASSERT_TRUE(process);
    const fs::path journal = folder_->path() / out / "journal.jsonl";
    for (int i = 0; i < 600 && !fs::exists(journal); ++i) std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(fs::exists(journal));
    ::kill(process->pid(), signal);
    ASSERT_TRUE(process->wait(60s)) << "it ends by itself";
    const Ran resumed = run({"resume", out, "--json"});
    EXPECT_TRUE(certified(resumed, last_object(resumed.output))) << resumed.output;
  }
}

TEST_F(Cli, EvalJudgesOneProgram) {
  ASSERT_EQ(run({"new-task", "row_dot"}).code, 0);
  const fs::path step = folder_->path() / "tasks/row_dot/catalog/cpp/wide_sums";
  const Ran good = run({"eval", "row_dot", step.string(), "--threads", "1"});
  EXPECT_EQ(good.code, 0) << good.output;
  std::ofstream(step / "row_dot.cpp", std::ios::app) << "\nthis is no C++\n";
  const Ran bad = run({"eval", "row_dot", step.string(), "--threads", "1", "--json"});
  EXPECT_EQ(bad.code, 1) << bad.output;
  EXPECT_EQ(last_object(bad.output)["outcome"]["kind"], "CompileFailed") << bad.output;
}

}  // namespace
}  // namespace ksearch
