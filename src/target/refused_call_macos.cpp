// macOS has no system call filter, so nothing is refused by one. Not yet run.
#include <fmt/format.h>

#include "target/failure.h"

namespace ksearch::target {

std::string describe_refused_call(long number, std::uint64_t, std::string_view) {
  return fmt::format("it made system call {}", number);
}

}  // namespace ksearch::target
