#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "target/process_state.h"

namespace ksearch::target {
namespace {
using Clock = std::chrono::steady_clock;

/// The state letter of /proc/PID/task/TID/stat, or 0.
char state_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[512];
  const ssize_t n = ::read(fd, text, sizeof(text));
  ::close(fd);
  if (n <= 0) return 0;
  // "pid (name) S ...": the name may hold anything, so the last bracket counts.
  const std::string_view line(text, static_cast<std::size_t>(n));
  const std::size_t at = line.rfind(')');
  return at != std::string_view::npos && at + 2 < line.size() ? line[at + 2] : 0;
}

/// 't': all stopped, 'r': some still run, 0: no such process.
char group_state(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return 0;
  char result = 0;
  while (const dirent* entry = ::readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const char state = state_of(folder + "/" + entry->d_name + "/stat");
    if (state == 0 || state == 'Z' || state == 'X') continue;
    if (state != 'T' && state != 't') {
      result = 'r';
      break;
    }
    result = 't';
  }
  ::closedir(dir);
  return result;
}

}  // namespace

ProcessHandle::ProcessHandle(pid_t pid)
    : pid_(pid), descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

ProcessHandle::ProcessHandle(ProcessHandle&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ProcessHandle& ProcessHandle::operator=(ProcessHandle&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

ProcessHandle::~ProcessHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ProcessHandle::signal(int number) const {
  if (descriptor_ >= 0)
    return ::syscall(SYS_pidfd_send_signal, descriptor_, number, nullptr, 0) == 0;
  return pid_ > 0 && ::kill(pid_, number) == 0;  // before Linux 5.3
}

bool ProcessHandle::stop(std::chrono::milliseconds limit) const {
  if (!signal(SIGSTOP)) return false;
  const auto end = Clock::now() + limit;
  for (;;) {
    const char state = group_state(pid_);
    if (state != 'r') return state == 't';
    if (Clock::now() > end) return false;
    ::sched_yield();
  }
}

std::optional<double> ProcessHandle::cpu_ns() const {
  clockid_t clock{};
  timespec now{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &now) != 0)
    return std::nullopt;
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void ProcessHandle::wait_gone(std::chrono::milliseconds limit) const {
  const auto end = Clock::now() + limit;
  if (descriptor_ >= 0) {
    pollfd fd{descriptor_, POLLIN, 0};
    while (::poll(&fd, 1, static_cast<int>(limit.count())) < 0 && errno == EINTR) {
    }
    return;
  }
  while (pid_ > 0 && ::kill(pid_, 0) == 0 && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void want_sender(int socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
}

ssize_t receive_with_sender(int socket, char* bytes, std::size_t size, pid_t& sender) {
  iovec part{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t n = ::recvmsg(socket, &message, MSG_DONTWAIT);
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); n > 0 && c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(c), sizeof(credentials));
    sender = credentials.pid;
  }
  const int off = 0;
  ::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
  return n;
}

}  // namespace ksearch::target
