// macOS has no system call filter, so nothing is refused by one. Not yet run.
#include <fmt/format.h>

#include "os/refused_call.h"

namespace ksearch::os {

std::string describe_refused_call(long number, std::uint64_t, std::string_view) {
  return fmt::format("it made system call {}", number);
}

}  // namespace ksearch::os
