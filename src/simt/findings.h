// Findings between the worker's report and the reader's: places become lines, bare facts sentences.
#pragma once

#include <filesystem>

#include "simt/check.h"

namespace ksearch::simt {

/// Adds what the worker said to `result`. It ran foreign code: a report that does not have the form
/// is an error, never an exception.
base::Result<void> read_findings(const toolchain::Builder& builder,
                                 const std::filesystem::path& object, const base::Json& report,
                                 Dialect dialect, Report& result);

}  // namespace ksearch::simt
