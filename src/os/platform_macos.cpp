// macOS: shm_open for shared memory, _NSGetExecutablePath. Written from the manual pages; not yet
// run.
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "os/files.h"
#include "os/shared_memory.h"

namespace ksearch::os {

base::Result<int> open_anonymous(std::string_view name) {
  // Unlinked at once, so it is as good as anonymous. PSHMNAMLEN is 31.
  const std::string path =
      "/ks-" + std::string(name.substr(0, 8)) + "-" + std::to_string(::getpid());
  const int fd = ::shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return base::environment_error("shm_open", std::strerror(errno));
  ::shm_unlink(path.c_str());
  return fd;
}

void give_back(int, std::size_t, std::size_t) {}

std::filesystem::path executable_path() {
  char buffer[4096];
  std::uint32_t size = sizeof(buffer);
  if (_NSGetExecutablePath(buffer, &size) != 0) return {};
  std::error_code code;
  return std::filesystem::canonical(buffer, code);
}

}  // namespace ksearch::os
