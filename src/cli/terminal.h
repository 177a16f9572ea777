// The terminal while the live view is on: alternate screen, hidden cursor, and the promise that
// both are put back on every way out, crashes included.
#pragma once

#include <string>
#include <vector>

#include "cli/live_view.h"
#include "os/files.h"

namespace ksearch::cli {

/// What this terminal shows, by NO_COLOR, TERM and the locale's variables.
report::Style style_of(const os::Environment& environment, bool is_terminal);

/// Size of the terminal behind `fd`; 80 x 24 where it does not say.
Size size_of(int fd);

/// One at a time in a process. Standard error is held back while it lives and written when it ends,
/// so that a library's complaint does not tear the picture and is not lost either.
class Screen {
 public:
  /// Enters the alternate screen of terminal `fd`. `stop` (Ctrl-Z) leaves it and comes back.
  explicit Screen(int fd);
  ~Screen();
  Screen(const Screen&) = delete;

  Size size() const;
  /// Draws lines that differ from what is there, in one write.
  void draw(const std::vector<std::string>& lines);

 private:
  std::vector<std::string> shown_;
  Size shown_size_{0, 0};
};

bool is_screen_shown();
/// Leaves the screen if one is on; may be called from a signal handler.
void leave_screen_now();

}  // namespace ksearch::cli
