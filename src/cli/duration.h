// Lengths of time as people write them: 90s, 3m, 1h30m, 45 (seconds).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace ksearch::cli {

/// Nothing for what is no time, is zero, or is above a year.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace ksearch::cli
