// Child processes: started with a given environment, descriptors and limits, waited for with a
// deadline, killed with everything they started. What a child may see and do is `sandbox`'s.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/files.h"

namespace ksearch::os {

/// Limits of the child and of all it starts (setrlimit). Unset: inherited.
struct Limits {
  std::optional<std::uint64_t> address_space_bytes = {};
  std::optional<std::uint64_t> data_bytes =
      {};  ///< private writable memory; shared mappings are not counted
  std::optional<std::uint64_t> file_bytes = {};  ///< size of a file it writes
  std::optional<std::uint64_t> open_files = {};
  std::optional<std::uint64_t> cpu_seconds = {};
};

/// What a child does to itself just before it becomes the program; made by `sandbox`.
class Confinement;

struct Command {
  std::vector<std::string> argv;      ///< argv[0]: path of the program, not looked up
  Environment environment = {};       ///< exactly these
  std::filesystem::path folder = {};  ///< working folder; empty: ours
  std::vector<std::pair<int, int>> descriptors =
      {};  ///< ours -> the child's; 0 to 2 not named are /dev/null
  Limits limits = {};
  std::vector<int> cpus = {};                           ///< CPUs it may run on; empty: ours
  std::shared_ptr<const Confinement> confinement = {};  ///< shared: commands are copied for retries
};

struct ExitStatus {
  int code = 0;    ///< of exit(); 128 + n where a wrapper says that its child died of signal n
  int signal = 0;  ///< that killed it, or 0
  rusage usage{};
  /// The signal, whether it came to us directly or through a wrapper's 128 + n.
  int killed_by() const { return signal ? signal : code > 128 && code < 128 + 65 ? code - 128 : 0; }
};

/// A running child, in a session of its own. Killed at the end of the object's life.
class Process {
 public:
  /// The child dies when the thread that started it ends (Linux), so also when we are killed: start
  /// it from a thread that outlives it. Errors of exec itself come back here.
  static base::Result<Process> start(const Command& command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  /// Waits at most `limit`; empty while it runs.
  std::optional<ExitStatus> wait(std::chrono::milliseconds limit);
  /// Kills it and its process group, and waits for it.
  void kill();

 private:
  explicit Process(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

struct Finished {
  ExitStatus status;
  std::string output;  ///< stdout and stderr together, the first `output_bytes`
  bool timed_out = false;
  bool too_much_output = false;
};

/// Runs to the end. Output beyond `output_bytes` is read and dropped up to `kill_after_bytes`, then
/// the child is killed.
base::Result<Finished> run(const Command& command, std::chrono::milliseconds limit,
                           std::size_t output_bytes = 1 << 16,
                           std::size_t kill_after_bytes = 16 << 20);

/// CPUs this process may run on, ascending.
std::vector<int> allowed_cpus();

}  // namespace ksearch::os
