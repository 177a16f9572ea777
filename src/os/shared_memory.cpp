#include "os/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ksearch::os {

base::Result<SharedMemory> SharedMemory::create(std::string_view name) {
  KS_TRY(const int fd, open_anonymous(name));
  SharedMemory result;
  result.fd_ = fd;
  return result;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_) ::munmap(data_, size_);
  if (fd_ >= 0) ::close(fd_);
}

base::Result<void> SharedMemory::resize(std::size_t bytes) {
  struct stat now {};
  if (::fstat(fd_, &now) != 0 || (static_cast<std::size_t>(now.st_size) < bytes &&
                                  ::ftruncate(fd_, static_cast<off_t>(bytes)) != 0))
    return base::environment_error(
        "shared memory", fmt::format("cannot make it {} bytes: {}", bytes, std::strerror(errno)));
  if (data_) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
  if (static_cast<std::size_t>(now.st_size) > bytes)
    give_back(fd_, bytes, static_cast<std::size_t>(now.st_size) - bytes);
  if (bytes == 0) return {};
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (at == MAP_FAILED)
    return base::environment_error(
        "shared memory", fmt::format("cannot map {} bytes: {}", bytes, std::strerror(errno)));
  data_ = static_cast<std::byte*>(at);
  size_ = bytes;
  return {};
}

}  // namespace ksearch::os
