// The trace of `check` as a person reads it.
#pragma once

#include <string>

#include "base/json.h"

namespace ksearch::cli {

/// At most 100 columns; nothing for a case that did not run.
std::string trace_text(const base::Json& trace);

}  // namespace ksearch::cli
