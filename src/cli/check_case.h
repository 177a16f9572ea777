// What `ksearch check` runs, from its options and its file.
#pragma once

#include "cli/commands.h"
#include "simt/case.h"

namespace ksearch::cli {

/// A case.json, or a source file with the launch that the options describe.
base::Result<simt::Case> case_of(const CheckOptions& options);

}  // namespace ksearch::cli
