#include "os/sandbox.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ksearch::os {
namespace {
using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// Both ways; one that this machine forbids is skipped loudly.
class SandboxTest : public testing::TestWithParam<SandboxWay> {
 protected:
  void SetUp() override {
    auto sandbox = Sandbox::find({.force = GetParam()});
    if (!sandbox) GTEST_SKIP() << sandbox.error().text();
    sandbox_ = *sandbox;
    auto folder = TempFolder::create("ks-sandbox");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }

  Finished sh(const std::string& script, Policy policy = {}) {
    policy.programs = true;
    auto command = sandbox_.confine({.argv = {"/bin/sh", "-c", script}}, policy);
    EXPECT_TRUE(command) << command.error().text();
    auto finished = run(*command, 20s);
    EXPECT_TRUE(finished) << finished.error().text();
    return finished ? *finished : Finished{};
  }

  Sandbox sandbox_;
  std::optional<TempFolder> folder_;
};

TEST_P(SandboxTest, TellsItsWay) {
  EXPECT_EQ(sandbox_.way(), GetParam());
  EXPECT_FALSE(sandbox_.description().empty());
}

TEST_P(SandboxTest, RunsAProgram) {
  const Finished f = sh("echo $((6 * 7))");
  EXPECT_EQ(f.output, "42\n");
  EXPECT_EQ(f.status.code, 0);
}

TEST_P(SandboxTest, CannotReadFilesOfTheUserOrTheSystem) {
  const fs::path secret = folder_->path() / "secret";
  std::ofstream(secret) << "hunter2";
  EXPECT_NE(sh("cat " + secret.string()).status.code, 0);
  EXPECT_EQ(
      sh("cat " + secret.string() + " /etc/passwd /etc/hostname /proc/self/environ 2>/dev/null")
          .output,
      "");
}

TEST_P(SandboxTest, ReadsAndWritesWhatThePolicyNames) {
  const fs::path read = folder_->path() / "read", write = folder_->path() / "write";
  fs::create_directories(read);
  fs::create_directories(write);
  std::ofstream(read / "a") << "yes";
  const Policy policy{.read = {read}, .write = {write}};
  EXPECT_EQ(sh("cat " + (read / "a").string(), policy).output, "yes");
  EXPECT_EQ(sh("echo b > " + (write / "b").string(), policy).status.code, 0);
  EXPECT_TRUE(fs::exists(write / "b"));
  EXPECT_NE(sh("echo c > " + (read / "c").string(), policy).status.code, 0);
  EXPECT_FALSE(fs::exists(read / "c"));
}

TEST_P(SandboxTest, LeavesNothingInTheTemporaryFolder) {
  const fs::path mark = fs::temp_directory_path() / "ksearch-sandbox-test-mark";
  fs::remove(mark);
  sh("echo x > " + mark.string());
  EXPECT_FALSE(fs::exists(mark));
}

TEST_P(SandboxTest, CannotChangeFilesItCanName) {
  const fs::path file = folder_->path() / "mode";
  std::ofstream(file) << "x";
  fs::permissions(file, fs::perms::owner_read);
  sh("chmod 777 " + file.string());
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read);
}

TEST_P(SandboxTest, CannotSignalOtherProcesses) {
  auto sleeper = Process::start({.argv = {"/bin/sleep", "600"}});
  ASSERT_TRUE(sleeper);
  sh("kill -9 " + std::to_string(sleeper->pid()));
  EXPECT_FALSE(sleeper->wait(50ms)) << "the sleeper is gone";
}

TEST_P(SandboxTest, HasNoNetwork) {
  if (!fs::exists("/usr/bin/perl")) GTEST_SKIP() << "needs perl";
  EXPECT_NE(
      sh("perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 6) or exit 1;"
         "connect($s, sockaddr_in(9, inet_aton(\"127.0.0.1\"))) or exit($!{ECONNREFUSED} ? 3 : 2);"
         "exit 0'")
          .status.code,
      0);
}

INSTANTIATE_TEST_SUITE_P(Ways, SandboxTest,
                         testing::Values(SandboxWay::namespaces, SandboxWay::landlock),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Sandbox, RefusesWhereThereIsNoneAndSaysWhatToDo) {
  const auto sandbox = Sandbox::find({.force = SandboxWay::namespaces, .search = {}});
  ASSERT_FALSE(sandbox);
  EXPECT_EQ(sandbox.error().kind, base::ErrorKind::environment);
  EXPECT_NE(sandbox.error().text().find("bwrap is not installed"), std::string::npos);
  EXPECT_NE(sandbox.error().todo.find("install bubblewrap"), std::string::npos);
}

TEST(Sandbox, NoneOnlyWhereTheUserSaysSo) {
  EXPECT_FALSE(Sandbox::find({.force = SandboxWay::none}));
  const auto sandbox = Sandbox::find({.force = SandboxWay::none, .allow_none = true});
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->way(), SandboxWay::none);
}

}  // namespace
}  // namespace ksearch::os
