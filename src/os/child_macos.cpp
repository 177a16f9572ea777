// macOS has neither death signals nor affinity; written from the manual pages, not yet run.
#include <unistd.h>

#include "os/child.h"

namespace ksearch::os {

bool settle_child(const Command&, pid_t) noexcept {
  ::setsid();
  return true;
}

void close_from(int first, int keep) noexcept {
  for (int fd = first; fd < 4096; ++fd)
    if (fd != keep) ::close(fd);
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  for (int cpu = 0; cpu < count; ++cpu) cpus.push_back(cpu);
  return cpus;
}

}  // namespace ksearch::os
