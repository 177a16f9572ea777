// Headers of the user's that a source may include: read beforehand, so that a compile depends on
// nothing but its request and the compiler sees no folder of the user's.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ksearch::simt {

/// Relative path and text of each header (.h, .hpp, .inc, .metal) below `folder`; with `deep` in
/// the folders below it too. An error where they are over 64 MiB together: name a smaller folder.
base::Result<std::vector<std::pair<std::string, std::string>>> read_headers(
    const std::filesystem::path& folder, bool deep);

}  // namespace ksearch::simt
