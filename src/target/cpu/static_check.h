// The rules of dialect `cpp` that can be seen in the text: which headers may be included, no
// assembly, no pragma that reads files. A tripwire with a good message: what a macro pastes
// together is not seen. The sandbox, around compiler and worker, holds without it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/program.h"

namespace ksearch::target {

/// "kernel.cpp:3: includes <unistd.h>: allowed are ..." for the first thing that is not allowed.
std::optional<std::string> check_sources(const std::vector<kernel::Source>& sources);

/// Headers a kernel may include.
const std::vector<std::string>& allowed_headers();

}  // namespace ksearch::target
