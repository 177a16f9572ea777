#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace ksearch::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGHUP, SIGQUIT};

// Signal handlers can reach nothing but globals.
std::atomic<int> g_screen{-1};      // the terminal, or -1
std::atomic<int> g_held{-1};        // where standard error goes meanwhile
std::atomic<int> g_stderr{-1};      // where it went before
std::atomic<bool> g_redraw{false};  // came back from Ctrl-Z
struct sigaction g_old[std::size(kFatal)];
struct sigaction g_old_stop;

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Puts standard error back and writes what was held. Only calls that a signal handler may make.
void release_stderr() {
  const int held = g_held.exchange(-1);
  const int before = g_stderr.exchange(-1);
  if (before >= 0) {
    dup2(before, STDERR_FILENO);
    close(before);
  }
  if (held < 0) return;
  char buffer[4096];
  off_t at = 0;
  for (ssize_t n; (n = pread(held, buffer, sizeof buffer, at)) > 0; at += n)
    write_all(STDERR_FILENO, {buffer, static_cast<std::size_t>(n)});
  close(held);
}

void hold_stderr() {
  std::FILE* file = std::tmpfile();
  if (!file) return;
  const int held = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
  std::fclose(file);
  if (held < 0) return;
  std::fflush(stderr);
  g_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(held, STDERR_FILENO);
  g_held = held;
}

void on_fatal(int signal) {
  leave_screen_now();
  for (std::size_t i = 0; i < std::size(kFatal); ++i)
    if (kFatal[i] == signal) sigaction(signal, &g_old[i], nullptr);
  raise(signal);
}

void on_stop(int) {
  const int saved = errno;
  const int screen = g_screen;
  if (screen >= 0) write_all(screen, kLeave);
  // The default action, for as long as we are stopped: it is blocked in here, so unblock it.
  struct sigaction now, standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &standard, &now);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &set, &old);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  sigaction(SIGTSTP, &now, nullptr);
  if (screen >= 0) write_all(screen, kEnter);
  g_redraw = true;
  errno = saved;
}

}  // namespace

report::Style style_of(const os::Environment& environment, bool is_terminal) {
  const auto get = [&](std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view{} : std::string_view(found->second);
  };
  report::Style style;
  style.color = is_terminal && get("NO_COLOR").empty() && get("TERM") != "dumb";
  std::string_view locale = get("LC_ALL");
  if (locale.empty()) locale = get("LC_CTYPE");
  if (locale.empty()) locale = get("LANG");
  const auto has = [&](std::string_view part) { return locale.find(part) != locale.npos; };
  style.utf8 = has("UTF-8") || has("utf-8") || has("UTF8") || has("utf8");
  return style;
}

Size size_of(int fd) {
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {window.ws_col, window.ws_row};
}

bool is_screen_shown() { return g_screen >= 0; }

void leave_screen_now() {
  const int screen = g_screen.exchange(-1);
  if (screen < 0) return;
  write_all(screen, kLeave);
  release_stderr();
}

Screen::Screen(int fd) {
  const int screen = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (screen < 0) return;
  hold_stderr();
  g_screen = screen;
  struct sigaction action = {};
  action.sa_handler = on_fatal;
  for (std::size_t i = 0; i < std::size(kFatal); ++i) sigaction(kFatal[i], &action, &g_old[i]);
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTSTP, &action, &g_old_stop);
  write_all(screen, kEnter);
}

Screen::~Screen() {
  const int screen = g_screen;
  if (screen < 0) return;
  leave_screen_now();
  close(screen);
  for (std::size_t i = 0; i < std::size(kFatal); ++i) sigaction(kFatal[i], &g_old[i], nullptr);
  sigaction(SIGTSTP, &g_old_stop, nullptr);
}

Size Screen::size() const {
  const int screen = g_screen;
  return screen < 0 ? Size{} : size_of(screen);
}

void Screen::draw(const std::vector<std::string>& lines) {
  const int screen = g_screen;
  if (screen < 0) return;
  const Size now = size();
  std::string out = "\x1b[?2026h";  // synchronised output: terminals that know it show whole frames
  if (now != shown_size_ || g_redraw.exchange(false)) {
    out += "\x1b[2J";
    shown_.clear();
    shown_size_ = now;
  }
  bool changed = false;
  const std::size_t rows = std::max(lines.size(), shown_.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string& line = i < lines.size() ? lines[i] : std::string();
    if (i < shown_.size() && shown_[i] == line) continue;
    if (i >= shown_.size() && line.empty()) continue;
    out += "\x1b[" + std::to_string(i + 1) + ";1H" + line + "\x1b[0m";
    // After a line of full width the cursor waits to wrap, and K would erase its last character.
    if (report::columns(line) < now.width) out += "\x1b[K";
    changed = true;
  }
  out += "\x1b[?2026l";
  shown_ = lines;
  if (changed) write_all(screen, out);
}

}  // namespace ksearch::cli
