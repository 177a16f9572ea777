#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "cli/terminal.h"

namespace ksearch::cli {
namespace {

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t g_interrupts = 0;
struct sigaction g_before;

void on_interrupt(int) {
  g_interrupts = g_interrupts + 1;
  if (g_interrupts < 2) return;
  leave_screen_now();
  constexpr std::string_view kText = "\nksearch: left at once; ksearch resume goes on from here\n";
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(kInterruptedStatus);
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

}  // namespace ksearch::cli
