// Keeps the build cache from growing without end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace ksearch::toolchain {

/// Removes the entries (folders two levels below `builds`) that were used longest ago until what is
/// left is under `limit_bytes`; none used within the last day, which another process may need. What
/// cannot be removed stays. Returns the bytes that went.
std::uintmax_t prune_builds(const std::filesystem::path& builds, std::uintmax_t limit_bytes);

/// The same where nobody did within `interval`: looking through ten thousands of builds takes as
/// long as compiling a kernel.
void prune_when_due(const std::filesystem::path& builds, std::uintmax_t limit_bytes,
                    std::chrono::seconds interval = std::chrono::hours(1));

}  // namespace ksearch::toolchain
