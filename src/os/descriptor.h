// File descriptors that are owned, and the pairs that connect two processes. None is inherited
// unless a Command names it.
#pragma once

#include <utility>

#include "base/result.h"

namespace ksearch::os {

/// Closed at the end of the object's life.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};
base::Result<Pipe> make_pipe();

struct SocketPair {
  Descriptor ours, theirs;
};
base::Result<SocketPair> make_socket_pair();

/// Reads and writes return at once.
void set_nonblocking(const Descriptor& descriptor);

}  // namespace ksearch::os
