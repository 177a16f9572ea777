#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "os/child.h"

namespace ksearch::os {

bool settle_child(const Command& command, pid_t parent) noexcept {
  ::setsid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
  if (::getppid() != parent) {  // it died before the line above
    errno = ESRCH;
    return false;
  }
  if (!command.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : command.cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof(set), &set) != 0) return false;
  }
  return true;
}

void close_from(int first, int keep) noexcept {
  const auto close_range = [](int from, int to) {
    if (from > to) return;
    if (::syscall(SYS_close_range, from, to, 0) == 0) return;
    for (int fd = from; fd <= to && fd < 65536; ++fd) ::close(fd);  // before Linux 5.9
  };
  if (keep < first) {
    close_range(first, 0x7fffffff);
    return;
  }
  close_range(first, keep - 1);
  close_range(keep + 1, 0x7fffffff);
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace ksearch::os
