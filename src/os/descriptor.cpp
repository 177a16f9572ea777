#include "os/descriptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ksearch::os {
namespace {

// Not atomic with the making, as pipe2 would be, which macOS lacks: a child forked in between by
// another thread closes what it was not given all the same (child.h).
void keep_from_children(const int (&fds)[2]) {
  for (const int fd : fds) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

base::Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe(fds) != 0) return base::environment_error("pipe", std::strerror(errno));
  keep_from_children(fds);
  return Pipe{Descriptor(fds[0]), Descriptor(fds[1])};
}

base::Result<SocketPair> make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
    return base::environment_error("socketpair", std::strerror(errno));
  keep_from_children(fds);
  return SocketPair{Descriptor(fds[0]), Descriptor(fds[1])};
}

void set_nonblocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace ksearch::os
