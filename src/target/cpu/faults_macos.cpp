// Crash handlers on macOS: the signal and the address, without reads told from writes. Written from
// the manual pages; not yet run.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "target/cpu/faults.h"

namespace ksearch::target {

FaultRegion g_fault_regions[2];

namespace {

constexpr std::size_t kHandlerStack = 64 << 10;
int g_control = -1;

void on_crash(int signal, siginfo_t* info, void*) {
  char line[256];
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  int size = std::snprintf(line, sizeof(line), "{\"signal\":%d,\"address\":%lu", signal,
                           static_cast<unsigned long>(at));
  for (int i = 0; i < 2; ++i) {
    const auto start = reinterpret_cast<std::uintptr_t>(g_fault_regions[i].start.load());
    if (start && at >= start && at - start < g_fault_regions[i].bytes.load())
      size +=
          std::snprintf(line + size, sizeof(line) - static_cast<std::size_t>(size),
                        ",\"region\":%d,\"offset\":%lu", i, static_cast<unsigned long>(at - start));
  }
  size += std::snprintf(line + size, sizeof(line) - static_cast<std::size_t>(size), "}\n");
  ::write(g_control, line, static_cast<std::size_t>(size));
  ::_exit(99);
}

}  // namespace

void prepare_thread() {
  stack_t stack{};
  stack.ss_size = kHandlerStack;
  stack.ss_sp =
      ::mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (stack.ss_sp != MAP_FAILED) ::sigaltstack(&stack, nullptr);
}

void install_fault_handlers(int control) {
  g_control = control;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_crash;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    ::sigaction(signal, &action, nullptr);
}

void ask_for_matrix_unit() {}

}  // namespace ksearch::target
