// Names for what foreign code tried, for reports. One file for each system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ksearch::os {

/// "it called openat (opens a file): /etc/passwd". `path` may be empty.
std::string describe_refused_call(long number, std::uint64_t first_argument, std::string_view path);

}  // namespace ksearch::os
