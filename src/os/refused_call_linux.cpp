#include <fmt/format.h>
#include <seccomp.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "os/refused_call.h"

namespace ksearch::os {
namespace {

struct Meaning {
  std::string_view name, meaning;
};
constexpr Meaning kMeanings[] = {
    {"clone", "starts a thread or a process"},
    {"clone3", "starts a thread or a process"},
    {"fork", "starts a process"},
    {"vfork", "starts a process"},
    {"execve", "starts a program"},
    {"exit", "ends a thread of the harness"},
    {"socket", "opens a network connection"},
    {"connect", "opens a network connection"},
    {"socketpair", "opens a socket"},
    {"openat", "opens a file"},
    {"open", "opens a file"},
    {"creat", "makes a file"},
    {"unlink", "removes a file"},
    {"unlinkat", "removes a file"},
    {"ftruncate", "changes the size of a file"},
    {"nanosleep", "sleeps"},
    {"clock_nanosleep", "sleeps"},
    {"futex", "waits with a time limit"},
    {"select", "waits with a time limit"},
    {"poll", "waits with a time limit"},
    {"kill", "signals a process"},
    {"tkill", "raises a signal"},
    {"tgkill", "raises a signal"},
    {"rt_sigaction", "changes how signals are handled"},
    {"sigaltstack", "changes how signals are handled"},
    {"ptrace", "traces a process"},
    {"prctl", "changes its process's settings"},
    {"setitimer", "sets a timer"},
    {"timer_create", "sets a timer"},
    {"close", "closes a descriptor of the harness"},
    {"dup2", "replaces a descriptor"},
    {"mprotect", "makes memory executable"},
    {"mmap", "maps executable memory"},
    {"sched_setaffinity", "moves itself to another CPU"},
};

}  // namespace

std::string describe_refused_call(long number, std::uint64_t first_argument,
                                  std::string_view path) {
  char* resolved = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number));
  const std::string name = resolved ? resolved : fmt::format("system call {}", number);
  std::free(resolved);
  std::string text = "it called " + name;
  if (name == "write" || name == "writev" || name == "sendto")
    return text + (first_argument == 1 || first_argument == 2
                       ? " (prints: a kernel has no output but its tensors)"
                       : fmt::format(" (on descriptor {})", first_argument));
  if (name == "read") return text + fmt::format(" (on descriptor {})", first_argument);
  for (const Meaning& m : kMeanings)
    if (m.name == name) text += fmt::format(" ({})", m.meaning);
  if (!path.empty()) text += fmt::format(": {}", path);
  return text;
}

}  // namespace ksearch::os
