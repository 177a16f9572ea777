// Reads a task's experts folder; and the two file helpers that loading a task shares.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "task/task.h"

namespace ksearch::task {

/// Every expert, variants spread out, by name. A folder that is not there holds none.
base::Result<std::vector<Expert>> read_experts(const std::filesystem::path& folder,
                                               const kernel::Definition& definition);

/// A whole file, at most 16 MiB.
base::Result<std::string> read_text(const std::filesystem::path& path);
/// Entries that are not hidden, by name; none where the folder cannot be read.
std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder);

}  // namespace ksearch::task
