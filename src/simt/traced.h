// What a traced run says, put together: counts of blocks become operations, counts of sites become
// lines of the source with their requests.
#pragma once

#include "base/json.h"
#include "simt/ir/instrument.h"

namespace ksearch::simt {

/// The trace of a report: what the check saw (`checked`: buffers, barriers), with what the traced
/// run counted, as the worker's JSON has it. Foreign code ran there: an error where the form is not
/// right.
base::Result<base::Json> trace_report(const ir::Instrumented& program, const base::Json& counted,
                                      base::Json checked);

}  // namespace ksearch::simt
