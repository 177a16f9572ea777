// Ctrl-C: the first one asks the run to stop after what it does now, the second one leaves at once.
#pragma once

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

/// Exit code of a process that the second Ctrl-C ended.
inline constexpr int kInterruptedStatus = 130;

}  // namespace ksearch::cli
