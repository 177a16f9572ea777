// macOS: no /proc and no credentials on a socket pair; the worker is our own child. Not yet run.
#include <libproc.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <utility>

#include "target/process_state.h"

namespace ksearch::target {

ProcessHandle::ProcessHandle(pid_t pid) : pid_(pid) {}
ProcessHandle::ProcessHandle(ProcessHandle&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)) {}
ProcessHandle& ProcessHandle::operator=(ProcessHandle&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}
ProcessHandle::~ProcessHandle() = default;

bool ProcessHandle::signal(int number) const { return pid_ > 0 && ::kill(pid_, number) == 0; }

bool ProcessHandle::stop(std::chrono::milliseconds) const {
  int status = 0;
  return signal(SIGSTOP) && ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
}

std::optional<double> ProcessHandle::cpu_ns() const {
  rusage_info_v0 usage{};
  if (::proc_pid_rusage(pid_, RUSAGE_INFO_V0, reinterpret_cast<rusage_info_t*>(&usage)) != 0)
    return std::nullopt;
  return static_cast<double>(usage.ri_user_time + usage.ri_system_time);
}

void ProcessHandle::wait_gone(std::chrono::milliseconds) const {}

void want_sender(int) {}
ssize_t receive_with_sender(int socket, char* bytes, std::size_t size, pid_t&) {
  return ::recv(socket, bytes, size, 0);
}

}  // namespace ksearch::target
