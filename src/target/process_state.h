// Stopping and watching a process that need not be our child (a sandbox's wrapper stands between).
// One file for each system.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>

namespace ksearch::target {

/// A process by its id, safe against the id being given to another one later (Linux: a pidfd).
class ProcessHandle {
 public:
  ProcessHandle() = default;
  explicit ProcessHandle(pid_t pid);
  ProcessHandle(ProcessHandle&& other) noexcept;
  ProcessHandle& operator=(ProcessHandle&& other) noexcept;
  ~ProcessHandle();

  /// False where it is gone.
  bool signal(int number) const;
  /// SIGSTOP, and true when every thread stands still; false where it died or does not stop in
  /// time.
  bool stop(std::chrono::milliseconds limit) const;
  /// CPU time of all its threads so far, in nanoseconds; nothing where it is gone.
  std::optional<double> cpu_ns() const;
  /// Until it has ended.
  void wait_gone(std::chrono::milliseconds limit) const;

 private:
  pid_t pid_ = -1;
  int descriptor_ = -1;
};

/// Asks the kernel to attach the sender's process id, as seen from here, to what arrives.
void want_sender(int socket);
/// recv; `sender` stays 0 where the system does not tell.
ssize_t receive_with_sender(int socket, char* bytes, std::size_t size, pid_t& sender);

}  // namespace ksearch::target
