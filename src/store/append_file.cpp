#include "store/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace ksearch::store {
namespace {

std::unexpected<base::Error> failed(const std::filesystem::path& path, const char* what) {
  return base::environment_error(path.string(), std::string(what) + ": " + std::strerror(errno));
}

int flush(int fd) {
#ifdef __APPLE__
  return ::fcntl(fd, F_FULLFSYNC) == 0 ? 0 : ::fsync(fd);
#else
  return ::fdatasync(fd);
#endif
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

base::Result<AppendFile> AppendFile::open(const std::filesystem::path& path, std::uint64_t bytes) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (fd.get() < 0) return failed(path, "cannot be opened");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return failed(path, "cannot be cut");
  if (::fsync(fd.get()) != 0) return failed(path, "cannot be flushed");
  return AppendFile(path, std::move(fd), bytes);
}

base::Result<void> AppendFile::append_later(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      auto error = failed(path_, "cannot be written");
      [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), static_cast<off_t>(size_));
      return error;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += bytes.size();
  return {};
}

base::Result<void> AppendFile::append(std::string_view bytes) {
  KS_RETURN_IF_ERROR(append_later(bytes));
  if (flush(fd_.get()) != 0) return failed(path_, "cannot be flushed");
  return {};
}

base::Result<Descriptor> lock_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kLockFile;
  Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0) return failed(path, "cannot be opened");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    // Whoever had it may have removed it meanwhile: then this is the lock of nothing.
    struct stat ours {
    }, there{};
    if (::fstat(fd.get(), &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino)
      return fd;
  } else if (errno != EWOULDBLOCK) {
    return failed(path, "cannot be locked");
  }
  return base::environment_error(folder.string(), "another process is writing this run",
                                 "wait for it, or stop it");
}

}  // namespace ksearch::store
