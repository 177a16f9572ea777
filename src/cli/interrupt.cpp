#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "cli/terminal.h"

namespace ksearch::cli {
namespace {

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t g_interrupts = 0;
std::atomic<const char*> g_line = nullptr;  // of a LeaveAtOnce
std::atomic<const char* const*> g_leavings = nullptr;
struct sigaction g_before;

void say(const char* text) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void leave(const char* line) {
  leave_screen_now();
  say(line);
  _exit(kInterruptedStatus);
}

/// The children die with us.
[[noreturn]] void leave_opening(const char* line) {
  for (const char* const* path = g_leavings; path && *path; ++path)
    if (unlink(*path) != 0) rmdir(*path);
  leave(line);
}

void on_interrupt(int) {
  const int before = errno;
  g_interrupts = g_interrupts + 1;
  if (const char* line = g_line) leave_opening(line);
  if (g_interrupts > 1) leave("\nksearch: left at once; ksearch resume goes on from here\n");
  if (!is_screen_shown())  // the live view says it itself
    say("\nksearch: stops after what it does now; Ctrl-C again leaves at once\n");
  errno = before;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  g_interrupts = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &g_before);
}

InterruptWatch::~InterruptWatch() { sigaction(SIGINT, &g_before, nullptr); }

bool InterruptWatch::interrupted() { return g_interrupts > 0; }

LeaveAtOnce::LeaveAtOnce(const std::string& said,
                         const std::vector<std::filesystem::path>& leavings)
    : line_("\nksearch: stopped: " + said + "\n") {
  for (const auto& path : leavings) paths_.push_back(std::filesystem::absolute(path).string());
  for (const std::string& path : paths_) names_.push_back(path.c_str());
  names_.push_back(nullptr);
  g_leavings = names_.data();
  g_line = line_.c_str();
  if (InterruptWatch::interrupted()) leave_opening(line_.c_str());  // just before
}

LeaveAtOnce::~LeaveAtOnce() {
  g_line = nullptr;
  g_leavings = nullptr;
}

}  // namespace ksearch::cli
