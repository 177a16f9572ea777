// What a compiler said, made fit for an outcome and a prompt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ksearch::toolchain {

/// The first errors, at most `limit_bytes`: warnings and "In file included from" lines are dropped,
/// each of `folders` (paths of this machine) is taken out of every path, and what is no printable
/// ASCII or UTF-8 is replaced.
std::string trim_log(std::string_view log, const std::vector<std::string>& folders,
                     std::size_t limit_bytes = 4096);

}  // namespace ksearch::toolchain
