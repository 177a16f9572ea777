// A folder with a new task that works as it is, for its author to change.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ksearch::formats {

/// Writes definition, workloads, reference, naive program, one catalog step and a README into
/// `folder`, which must not exist or be empty. `name` must be a name (letters, digits, _). Returns
/// the files written, relative to the folder.
base::Result<std::vector<std::string>> new_task(std::string_view name,
                                                const std::filesystem::path& folder);

}  // namespace ksearch::formats
