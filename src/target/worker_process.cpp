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
constexpr std::chrono::milliseconds kStopLimit{10000};
constexpr std::chrono::milliseconds kSendLimit{20000};

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

}  // namespace

WorkerProcess::WorkerProcess(os::Process process, os::Descriptor socket, os::Descriptor output)
    : process_(std::move(process)), socket_(std::move(socket)), output_(std::move(output)) {}

base::Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(os::Command command, int memory,
                                                                  std::chrono::milliseconds limit) {
  KS_TRY(os::SocketPair sockets, os::make_socket_pair());
  KS_TRY(os::Pipe output, os::make_pipe());
  os::set_nonblocking(output.read);
  want_sender(sockets.ours.get());
  command.descriptors = {{output.write.get(), 1},
                         {output.write.get(), 2},
                         {sockets.theirs.get(), kControlDescriptor},
                         {memory, kMemoryDescriptor}};
  KS_TRY(os::Process process, os::Process::start(command));
  sockets.theirs.reset();
  output.write.reset();
  std::unique_ptr<WorkerProcess> worker(
      new WorkerProcess(std::move(process), std::move(sockets.ours), std::move(output.read)));
  KS_RETURN_IF_ERROR(worker->greet(command.argv.front(), limit));
  return worker;
}

base::Result<void> WorkerProcess::greet(const std::string& program,
                                        std::chrono::milliseconds limit) {
  // The first line is "hello", alone: before candidate code is anywhere near.
  constexpr std::string_view kHello = "hello\n";
  pollfd poll_fd{socket_.get(), POLLIN, 0};
  int ready;
  while ((ready = ::poll(&poll_fd, 1, static_cast<int>(limit.count()))) < 0 && errno == EINTR) {
  }
  char hello[16] = {};
  pid_t sender = 0;
  const ssize_t n =
      ready > 0 ? receive_with_sender(socket_.get(), hello, sizeof(hello), sender) : 0;
  if (n > 0 && std::string_view(hello, static_cast<std::size_t>(n)) == kHello) {
    worker_ = ProcessHandle(sender > 0 ? sender : process_.pid());
    return {};
  }
  drain_output();
  kill();
  const auto status = process_.wait(std::chrono::milliseconds(0)).value_or(os::ExitStatus{});
  return base::environment_error(
      program, ready == 0 ? std::string("the worker does not answer")
                          : fmt::format("the worker left with status {} before it began: {}",
                                        status.code, printed_));
}

WorkerProcess::~WorkerProcess() { kill(); }

void WorkerProcess::send(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  const auto end = Clock::now() + kSendLimit;
  while (!rest.empty() && alive_) {
    const ssize_t n = ::send(socket_.get(), rest.data(), rest.size(), kSendFlags);
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return;  // it is gone; `receive` will say so
    // A worker that reads no more must not hold us up.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd poll_fd{socket_.get(), POLLOUT, 0};
    if (left <= 0 || ::poll(&poll_fd, 1, static_cast<int>(left)) == 0) kill();
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
  while ((n = ::read(output_.get(), chunk, sizeof(chunk))) > 0) {
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
    std::array<pollfd, 2> fds{{{socket_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}}};
    const int ready =
        ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<long long>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return end(WorkerEnd::Why::time);
    if (fds[0].revents) {
      char chunk[65536];
      const ssize_t n = ::recv(socket_.get(), chunk, sizeof(chunk), MSG_DONTWAIT);
      if (n > 0) unread_.append(chunk, static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return end(WorkerEnd::Why::left);
      continue;
    }
    if (fds[1].revents) {
      if (!drain_output()) return end(WorkerEnd::Why::output);
      // It shut its outputs: nothing to watch, and poll would spin on the hang-up.
      if (fds[1].revents & POLLHUP) output_.reset();
    }
  }
}

bool WorkerProcess::has_unread() {
  if (!unread_.empty()) return true;
  char byte;
  return ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
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
