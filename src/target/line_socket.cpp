#include "target/line_socket.h"

#include <sched.h>
#include <sys/socket.h>

#include <cerrno>

namespace ksearch::target {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif
// About 5 ms of looking before sleeping: the parent sends `go` as soon as it has seen `ready`.
constexpr int kLooks = 10000;

}  // namespace

bool LineSocket::fill(bool block) {
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::recv(fd_, chunk, sizeof(chunk), block ? 0 : MSG_DONTWAIT);
    if (n > 0) buffer_.append(chunk, static_cast<std::size_t>(n));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    return n > 0;
  }
}

bool LineSocket::read_line(std::string& line) {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line.assign(buffer_, 0, end);
      buffer_.erase(0, end + 1);
      return true;
    }
    searched = buffer_.size();
    if (!fill(true)) return false;
  }
}

bool LineSocket::await_go() {
  for (int look = 0; look < kLooks && buffer_.find('\n') == std::string::npos; ++look) {
    if (!fill(false)) return false;
    ::sched_yield();
  }
  std::string line;
  return read_line(line) && line == "go";
}

void LineSocket::send_line(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = ::send(fd_, rest.data(), rest.size(), kNoSignal);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the parent is gone: the next read says so
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace ksearch::target
