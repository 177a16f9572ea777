#include "target/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "target/process_state.h"
#include "target/worker_descriptors.h"

namespace ksearch::target {
namespace {
using Clock = std::chrono::steady_clock;

// A line of a worker is a few hundred bytes, or one number for each call of a batch.
constexpr std::size_t kLongestLine = 4 << 20;
constexpr std::size_t kPrintedKept = 4096;
constexpr std::size_t kPrintedLimit = 1 << 20;
constexpr std::chrono::milliseconds kStopLimit{2000};

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

}  // namespace

WorkerProcess::WorkerProcess(os::Process process, int socket, int output)
    : process_(std::move(process)), socket_(socket), output_(output) {}

base::Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(os::Command command, int memory,
                                                                  std::chrono::milliseconds limit) {
  int sockets[2], output[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return base::environment_error("socketpair", std::strerror(errno));
  if (::pipe2(output, O_CLOEXEC | O_NONBLOCK) != 0) {
    const int code = errno;
    ::close(sockets[0]);
    ::close(sockets[1]);
    return base::environment_error("pipe", std::strerror(code));
  }
  want_sender(sockets[0]);
  command.descriptors = {{output[1], 1}, {output[1], 2}, {sockets[1], kControlDescriptor},
                         {memory, kMemoryDescriptor}};
  auto process = os::Process::start(command);
  ::close(sockets[1]);
  ::close(output[1]);
  if (!process) {
    ::close(sockets[0]);
    ::close(output[0]);
    return std::unexpected(process.error());
  }
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(std::move(*process), sockets[0], output[0]));
  // The first line is "hello", alone: before candidate code is anywhere near.
  pollfd poll_fd{sockets[0], POLLIN, 0};
  const int ready = ::poll(&poll_fd, 1, static_cast<int>(limit.count()));
  char hello[16] = {};
  pid_t sender = 0;
  const ssize_t n = ready > 0 ? receive_with_sender(sockets[0], hello, sizeof(hello), sender) : 0;
  if (n != 6 || std::string_view(hello, 6) != "hello\n") {
    worker->drain_output();
    worker->kill();
    const auto status = worker->process_.wait(std::chrono::milliseconds(0)).value_or(os::ExitStatus{});
    return base::environment_error(
        command.argv.front(),
        ready == 0 ? std::string("the worker does not answer")
                   : fmt::format("the worker left with status {} before it began: {}", status.code,
                                 worker->printed_));
  }
  worker->worker_ = ProcessHandle(sender > 0 ? sender : worker->process_.pid());
  return worker;
}

WorkerProcess::~WorkerProcess() {
  kill();
  ::close(socket_);
  ::close(output_);
}

void WorkerProcess::send(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = ::send(socket_, rest.data(), rest.size(), kNoSignal);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // it is gone; `receive` will say so
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::optional<std::string> WorkerProcess::take_line() {
  const std::size_t at = unread_.find('\n');
  if (at == std::string::npos) return std::nullopt;
  std::string line = unread_.substr(0, at);
  unread_.erase(0, at + 1);
  return line;
}

bool WorkerProcess::drain_output() {
  char chunk[4096];
  ssize_t n;
  while ((n = ::read(output_, chunk, sizeof(chunk))) > 0) {
    printed_bytes_ += static_cast<std::size_t>(n);
    printed_.append(chunk, static_cast<std::size_t>(n));
    if (printed_.size() > kPrintedKept) printed_.erase(0, printed_.size() - kPrintedKept);
    if (printed_bytes_ > kPrintedLimit) return false;
  }
  return true;
}

std::variant<std::string, WorkerEnd> WorkerProcess::receive(Clock::time_point deadline) {
  for (;;) {
    if (auto line = take_line()) return std::move(*line);
    if (!alive_) return WorkerEnd{WorkerEnd::Why::left, {}};
    if (unread_.size() > kLongestLine) return end(WorkerEnd::Why::garbage);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    std::array<pollfd, 2> fds{{{socket_, POLLIN, 0}, {output_, POLLIN, 0}}};
    const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return end(WorkerEnd::Why::time);
    if (fds[0].revents) {
      char chunk[65536];
      const ssize_t n = ::recv(socket_, chunk, sizeof(chunk), MSG_DONTWAIT);
      if (n > 0) unread_.append(chunk, static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return end(WorkerEnd::Why::left);
      continue;
    }
    if (fds[1].revents) {
      if (!drain_output()) return end(WorkerEnd::Why::output);
      // It shut its outputs: nothing to watch, and poll would spin on the hang-up.
      if (fds[1].revents & POLLHUP) ::close(std::exchange(output_, -1));
    }
  }
}

bool WorkerProcess::has_unread() {
  if (!unread_.empty()) return true;
  char byte;
  return ::recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

WorkerEnd WorkerProcess::end(WorkerEnd::Why why) {
  WorkerEnd result{why, {}};
  // A worker that hung up is about to leave: its status says how. One that does not is killed.
  if (why == WorkerEnd::Why::left)
    result.status = process_.wait(std::chrono::milliseconds(500)).value_or(os::ExitStatus{});
  drain_output();
  kill();
  return result;
}

std::optional<double> WorkerProcess::stop() {
  if (!alive_) return std::nullopt;
  const auto start = Clock::now();
  stopped_ = true;
  if (!worker_.stop(kStopLimit)) return std::nullopt;
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

void WorkerProcess::resume() {
  if (std::exchange(stopped_, false) && alive_) worker_.signal(SIGCONT);
}

void WorkerProcess::kill() {
  if (!std::exchange(alive_, false)) return;
  // The worker itself first: its wrapper, killed, would leave its death to a later moment.
  worker_.signal(SIGKILL);
  process_.kill();
  worker_.wait_gone(kStopLimit);
}

}  // namespace ksearch::target
