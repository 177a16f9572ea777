// Linux: memfd for shared memory, /proc for the executable's own path.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "os/files.h"
#include "os/shared_memory.h"

namespace ksearch::os {

base::Result<int> open_anonymous(std::string_view name) {
  const int fd = ::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return base::environment_error("memfd_create", std::strerror(errno));
  // A worker that shrank it would kill us with SIGBUS at our next read.
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    const int code = errno;
    ::close(fd);
    return base::environment_error("memfd seal", std::strerror(code));
  }
  return fd;
}

void give_back(int descriptor, std::size_t offset, std::size_t bytes) {
  ::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
}

std::filesystem::path executable_path() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code);
}

}  // namespace ksearch::os
