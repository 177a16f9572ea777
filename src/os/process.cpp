#include "os/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "os/child.h"
#include "os/descriptor.h"

namespace ksearch::os {
namespace {
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

bool set_limit(int which, const std::optional<std::uint64_t>& value) noexcept {
  if (!value) return true;
  rlimit now{};
  if (::getrlimit(which, &now) != 0) return false;
  const rlim_t wanted = std::min<rlim_t>(static_cast<rlim_t>(*value), now.rlim_max);
  const rlimit limit{wanted, wanted};
  return ::setrlimit(which, &limit) == 0;
}

bool set_limits(const Limits& limits) noexcept {
  return set_limit(RLIMIT_AS, limits.address_space_bytes) &&
         set_limit(RLIMIT_DATA, limits.data_bytes) && set_limit(RLIMIT_FSIZE, limits.file_bytes) &&
         set_limit(RLIMIT_NOFILE, limits.open_files) && set_limit(RLIMIT_CPU, limits.cpu_seconds) &&
         set_limit(RLIMIT_CORE, 0);
}

/// Everything the child needs, laid out before the fork: after it nothing may allocate.
struct Prepared {
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<std::string> strings;
  std::vector<std::pair<int, int>> descriptors;
  int null_fd = -1;
  int report_fd = -1;
};

/// Moves descriptors into place: first all above the targets, then down.
bool place_descriptors(Prepared& p) noexcept {
  int top = 3;
  for (const auto& [ours, childs] : p.descriptors) top = std::max(top, childs + 1);
  p.report_fd = ::fcntl(p.report_fd, F_DUPFD_CLOEXEC, top);
  p.null_fd = ::fcntl(p.null_fd, F_DUPFD, top);
  if (p.report_fd < 0 || p.null_fd < 0) return false;
  for (auto& [ours, childs] : p.descriptors)
    if ((ours = ::fcntl(ours, F_DUPFD, top)) < 0) return false;
  for (int fd = 0; fd < 3; ++fd)
    if (::dup2(p.null_fd, fd) < 0) return false;
  for (const auto& [ours, childs] : p.descriptors)
    if (::dup2(ours, childs) < 0) return false;
  for (int fd = 3; fd < top; ++fd)
    if (std::none_of(p.descriptors.begin(), p.descriptors.end(),
                     [&](const auto& pair) { return pair.second == fd; }))
      ::close(fd);
  close_from(top, p.report_fd);
  return true;
}

[[noreturn]] void become(const Command& command, Prepared& p, pid_t parent) noexcept {
  // Signals as a fresh process has them, whatever a caller blocked or ignored.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  // The confinement holds a descriptor of its own, so it comes before the others are closed.
  const bool ready = settle_child(command, parent) && set_limits(command.limits) &&
                     (!command.confinement || command.confinement->enter()) &&
                     place_descriptors(p) &&
                     (command.folder.empty() || ::chdir(command.folder.c_str()) == 0);
  if (ready) ::execve(p.argv[0], p.argv.data(), p.environment.data());
  const int code = errno;
  [[maybe_unused]] const ssize_t n = ::write(p.report_fd, &code, sizeof(code));
  ::_exit(127);
}

ExitStatus decode(int status, const rusage& usage) {
  ExitStatus result;
  result.usage = usage;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace

base::Result<Process> Process::start(const Command& command) {
  KS_CHECK(!command.argv.empty(), "a command has a program");
  Prepared p;
  p.descriptors = command.descriptors;
  for (const auto& [name, value] : command.environment) p.strings.push_back(name + "=" + value);
  for (std::string& s : p.strings) p.environment.push_back(s.data());
  p.environment.push_back(nullptr);
  for (const std::string& arg : command.argv) p.argv.push_back(const_cast<char*>(arg.c_str()));
  p.argv.push_back(nullptr);

  KS_TRY(Pipe report, make_pipe());
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  p.report_fd = report.write.get();
  p.null_fd = null.get();
  const pid_t parent = ::getpid();
  const pid_t pid = p.null_fd < 0 ? -1 : ::fork();
  if (pid == 0) become(command, p, parent);
  if (pid < 0)
    return base::environment_error(command.argv[0],
                                   fmt::format("cannot start a process: {}", std::strerror(errno)));
  report.write.reset();
  Process process(pid);
  int code = 0;
  ssize_t n;
  while ((n = ::read(report.read.get(), &code, sizeof(code))) < 0 && errno == EINTR) {
  }
  if (n == static_cast<ssize_t>(sizeof(code)))
    return base::environment_error(command.argv[0],
                                   fmt::format("cannot be started: {}", std::strerror(code)));
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, {})) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() { kill(); }

std::optional<ExitStatus> Process::wait(milliseconds limit) {
  if (status_ || pid_ < 0) return status_;
  const auto end = Clock::now() + limit;
  auto pause = std::chrono::microseconds(50);
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t got = ::wait4(pid_, &status, WNOHANG, &usage);
    if (got == pid_) return status_ = decode(status, usage);
    if (got < 0 && errno != EINTR)
      return status_ = ExitStatus{};  // reaped elsewhere: our SIGCHLD is ignored
    if (Clock::now() >= end) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
}

void Process::kill() {
  if (status_ || pid_ < 0) return;
  ::kill(-pid_, SIGKILL);  // its session's group; what left the group dies with its namespace
  ::kill(pid_, SIGKILL);
  wait(milliseconds(10000));
}

base::Result<Finished> run(const Command& command, milliseconds limit, std::size_t output_bytes,
                           std::size_t kill_after_bytes) {
  KS_TRY(Pipe output, make_pipe());
  Command with_output = command;
  with_output.descriptors.emplace_back(output.write.get(), 1);
  with_output.descriptors.emplace_back(output.write.get(), 2);
  KS_TRY(Process process, Process::start(with_output));
  output.write.reset();
  Finished result;
  const auto end = Clock::now() + limit;
  std::size_t seen = 0;
  char buffer[16384];
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    pollfd poll_fd{output.read.get(), POLLIN, 0};
    const int ready =
        left <= 0 ? 0 : ::poll(&poll_fd, 1, static_cast<int>(std::min<long long>(left, 60000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && Clock::now() < end) continue;
    if (ready <= 0) {
      result.timed_out = true;
      break;
    }
    const ssize_t n = ::read(output.read.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::size_t keep =
        std::min(static_cast<std::size_t>(n), output_bytes - result.output.size());
    result.output.append(buffer, keep);
    if ((seen += static_cast<std::size_t>(n)) > kill_after_bytes) {
      result.too_much_output = true;
      break;
    }
  }
  output.read.reset();
  if (!result.timed_out && !result.too_much_output) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    result.timed_out = !process.wait(std::max(left, milliseconds(0)));
  }
  process.kill();
  result.status = process.wait(milliseconds(0)).value_or(ExitStatus{});
  return result;
}

}  // namespace ksearch::os
