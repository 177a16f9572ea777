// The worker's end of the control socket: whole lines in, whole lines out. Trusts the parent.
#pragma once

#include <string>
#include <string_view>

namespace ksearch::target {

class LineSocket {
 public:
  explicit LineSocket(int descriptor) : fd_(descriptor) {}
  /// False when the parent has hung up.
  bool read_line(std::string& line);
  /// The line "go", looked for without sleeping at first: its arrival starts the parent's clock.
  bool await_go();
  void send_line(std::string_view line);

 private:
  bool fill(bool block);
  int fd_;
  std::string buffer_;
};

}  // namespace ksearch::target
