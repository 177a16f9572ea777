#include "os/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "os/files.h"

namespace ksearch::os {
namespace {
using namespace std::chrono_literals;

Finished sh(const std::string& script, std::chrono::milliseconds limit = 20s,
            Command command = {}) {
  command.argv = {"/bin/sh", "-c", script};
  auto finished = run(command, limit);
  EXPECT_TRUE(finished) << finished.error().text();
  return finished ? *finished : Finished{};
}

TEST(Process, GivesStatusAndOutput) {
  const Finished f = sh("echo out; echo err >&2; exit 3");
  EXPECT_EQ(f.status.code, 3);
  EXPECT_EQ(f.output, "out\nerr\n");
}

TEST(Process, HasOnlyTheEnvironmentGiven) {
  Command command;
  command.environment = {{"A", "1"}};
  const Finished f = [&] {
    command.argv = {"/usr/bin/env"};
    return *run(command, 20s);
  }();
  EXPECT_EQ(f.output, "A=1\n");
}

TEST(Process, InheritsOnlyTheDescriptorsNamed) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);  // not close-on-exec, on purpose
  Command command;
  command.descriptors = {{fds[1], 7}};
  const Finished f =
      sh("for i in 3 4 5 6 7 8 9; do (: >&$i) 2>/dev/null && echo $i; done; exit 0", 20s, command);
  ::close(fds[0]);
  ::close(fds[1]);
  EXPECT_EQ(f.output, "7\n");
}

TEST(Process, DescriptorsMayTradePlaces) {
  int a[2], b[2];
  ASSERT_EQ(::pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(b, O_CLOEXEC), 0);
  Command command;
  command.argv = {"/bin/sh", "-c", "echo to_a >&3; echo to_b >&4"};
  command.descriptors = {{a[1], 3}, {b[1], 4}};
  ASSERT_TRUE(run(command, 20s));
  char text[16] = {};
  ASSERT_EQ(::read(a[0], text, sizeof(text)), 5);
  EXPECT_STREQ(text, "to_a\n");
  for (const int fd : {a[0], a[1], b[0], b[1]}) ::close(fd);
}

TEST(Process, MissingProgramIsAnErrorThatNamesIt) {
  const auto process = Process::start({.argv = {"/no/such/program"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().text(),
            "/no/such/program: cannot be started: No such file or directory");
}

TEST(Process, TimeOutKillsTheWholeTree) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  Command command;
  command.descriptors = {{fds[1], 3}};
  const Finished f = sh("sleep 600 & sleep 600", 200ms, command);
  EXPECT_TRUE(f.timed_out);
  ::close(fds[1]);
  char byte;
  EXPECT_EQ(::read(fds[0], &byte, 1), 0) << "a grandchild still holds the pipe";
  ::close(fds[0]);
}

TEST(Process, EndlessOutputIsCutAndStopped) {
  const auto f = run({.argv = {"/bin/sh", "-c", "yes"}}, 60s, 1000, 1 << 20);
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->too_much_output);
  EXPECT_FALSE(f->timed_out);
  EXPECT_EQ(f->output.size(), 1000u);
}

TEST(Process, SignalsAreTold) {
  EXPECT_EQ(sh("kill -SEGV $$").status.signal, SIGSEGV);
  EXPECT_EQ(sh("kill -SEGV $$").status.killed_by(), SIGSEGV);
}

TEST(Process, LimitsHold) {
  Command command;
  command.limits.file_bytes = 0;
  const auto folder =
      TempFolder::create("ksearch-limit-");  // the shell ends before it could tidy up
  ASSERT_TRUE(folder);
  EXPECT_EQ(
      sh("echo x > '" + (folder->path() / "x").string() + "'", 20s, command).status.killed_by(),
      SIGXFSZ);
  Command memory;
  memory.limits.address_space_bytes = 200 << 20;
  EXPECT_EQ(sh("dd if=/dev/zero of=/dev/null bs=400M count=1", 20s, memory).status.code, 1);
}

TEST(Process, RunsOnTheCpusGiven) {
  Command command;
  command.cpus = {allowed_cpus().back()};
  const Finished f = sh("nproc", 20s, command);
  EXPECT_EQ(f.output, "1\n");
}

}  // namespace
}  // namespace ksearch::os
