// Ctrl-C: the first one asks the run to stop after what it does now, the second one leaves at once.
// While a session opens there is nothing to lose: the first one leaves at once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ksearch::cli {

/// From here on until the object ends. The second signal puts the terminal back and ends the
/// process; the journal has everything up to the last whole line, so nothing is lost.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;

  static bool interrupted();
};

/// While it lives, with an InterruptWatch around it, the first signal ends the process with one
/// line. One at a time.
class LeaveAtOnce {
 public:
  /// `said`: what that means, "no run was begun". `leavings`: files and empty folders to be
  /// removed, in order.
  LeaveAtOnce(const std::string& said, const std::vector<std::filesystem::path>& leavings = {});
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;

 private:
  const std::string line_;
  std::vector<std::string> paths_;
  std::vector<const char*> names_;  // of them, and a null: for the handler
};

/// Exit code of a process that Ctrl-C ended.
inline constexpr int kInterruptedStatus = 130;

}  // namespace ksearch::cli
