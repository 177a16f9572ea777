// A trace's counts as the worker reports them, by the numbers that blocks and sites have.
#pragma once

#include "base/json.h"
#include "simt/engine/trace.h"

namespace ksearch::simt {

/// What `trace_report` (simt/traced.h) reads.
base::Json to_json(const Trace& trace);

}  // namespace ksearch::simt
