// Memory that two processes map: anonymous, never a file that another program could open.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ksearch::os {

/// A shared object, mapped whole into this process. It only grows: the other side can never shrink
/// it under our feet (on Linux it is sealed so).
class SharedMemory {
 public:
  static base::Result<SharedMemory> create(std::string_view name);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory();

  /// Makes it `bytes` long at least and maps that much; earlier spans die. Pages come as they are
  /// touched. An error where the system has no room.
  base::Result<void> resize(std::size_t bytes);
  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// To hand to a child process.
  int descriptor() const { return fd_; }

 private:
  SharedMemory() = default;
  int fd_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Opens the anonymous object itself; how is the platform's.
base::Result<int> open_anonymous(std::string_view name);
/// Returns the memory of a range to the system where it can; the range reads as zeros then.
void give_back(int descriptor, std::size_t offset, std::size_t bytes);

}  // namespace ksearch::os
