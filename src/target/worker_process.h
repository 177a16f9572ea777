// The parent's side of a worker: the process, its control socket, what it prints, and stopping it.
// It believes nothing that comes back; meaning is process_worker's.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "os/descriptor.h"
#include "os/process.h"
#include "target/process_state.h"

namespace ksearch::target {

/// Nothing more comes: it left, was killed for what it printed, or the time is up.
struct WorkerEnd {
  enum class Why { left, time, output, garbage };
  Why why = Why::left;
  os::ExitStatus status;  ///< with `left`
};

class WorkerProcess {
 public:
  /// Starts `command` (confined already) with the control socket and `memory` in place, and learns
  /// its process id, which the kernel attaches to its first byte: inside a namespace it knows
  /// another.
  static base::Result<std::unique_ptr<WorkerProcess>> start(os::Command command, int memory,
                                                            std::chrono::milliseconds limit);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;

  void send(std::string_view line);
  /// The next line; waits until `deadline`.
  std::variant<std::string, WorkerEnd> receive(std::chrono::steady_clock::time_point deadline);
  /// True where bytes have come that nobody has read yet.
  bool has_unread();

  /// Stops every thread of the worker and returns when they stand still; nanoseconds it took, or
  /// nothing where it cannot be stopped (it died). A stopped worker costs no CPU time and changes
  /// no memory until `resume`.
  std::optional<double> stop();
  void resume();
  /// CPU time the worker has used, in nanoseconds; 0 where it is gone.
  double cpu_ns() const { return worker_.cpu_ns().value_or(0); }
  void kill();

  bool alive() const { return alive_; }
  /// The end of what it printed, for error messages.
  const std::string& printed() const { return printed_; }

 private:
  WorkerProcess(os::Process process, os::Descriptor socket, os::Descriptor output);
  base::Result<void> greet(const std::string& program, std::chrono::milliseconds limit);
  bool drain_output();
  std::optional<std::string> take_line();
  WorkerEnd end(WorkerEnd::Why why);

  os::Process process_;
  os::Descriptor socket_;
  os::Descriptor output_;
  ProcessHandle worker_;
  bool alive_ = true;
  bool stopped_ = false;
  std::string unread_;
  std::string printed_;
  std::size_t printed_bytes_ = 0;
};

}  // namespace ksearch::target
