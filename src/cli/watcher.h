// Who watches a run: the live view on a terminal, plain lines elsewhere. Both hear the run's events
// and what the session does before and between them.
#pragma once

#include <memory>
#include <string_view>

#include "event/event.h"
#include "report/columns.h"

namespace ksearch::cli {

class Watcher : public event::Sink {
 public:
  /// What goes on now: "expert torch on f32_causal_d64". Any time, also before the run starts.
  virtual void progress(std::string_view what) = 0;
  /// Whether events of before a resumption should be told: a picture needs them, lines do not.
  virtual bool wants_past() const = 0;
  /// Puts the terminal back; nothing is shown after it.
  virtual void close() = 0;
};

/// Redraws five times a second on a thread of its own, only what changed. `task` is the title until
/// the run has started.
std::unique_ptr<Watcher> make_live_watcher(int terminal, const report::Style& style,
                                           std::string_view task);

/// One line an event on descriptor `fd`; what the session does until the run starts, a line a
/// stage.
std::unique_ptr<Watcher> make_line_watcher(int fd, const report::Style& style);

}  // namespace ksearch::cli
