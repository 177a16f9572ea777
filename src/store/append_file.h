// A file that is only appended to, and a lock that goes with its process. POSIX.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace ksearch::store {

/// Owns one file descriptor; closing it gives a lock back.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

class AppendFile {
 public:
  /// Opens `path`, makes it if it is missing, and cuts it to `bytes` first.
  static base::Result<AppendFile> open(const std::filesystem::path& path, std::uint64_t bytes);

  /// All of `bytes`, on the disk when it returns. Where that cannot be (a full disk) none of them
  /// stay: a torn line amid whole ones would make the file unreadable.
  base::Result<void> append(std::string_view bytes);
  /// The same, but on the disk with the next append only: a kill loses nothing, a power cut may.
  base::Result<void> append_later(std::string_view bytes);

 private:
  AppendFile(std::filesystem::path path, Descriptor fd, std::uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}
  std::filesystem::path path_;
  Descriptor fd_;
  std::uint64_t size_;
};

inline constexpr const char* kLockFile = "lock";
/// Takes the lock of a folder, for this process alone, until the descriptor goes.
base::Result<Descriptor> lock_folder(const std::filesystem::path& folder);

}  // namespace ksearch::store
