// Cases that run one after another on the same buffers, each with an object of its own: launches
// that differ in their function constants (pipelines of Metal), launches of a program that are
// bodies of their own.
#pragma once

#include <set>

#include "simt/check.h"

namespace ksearch::simt {

/// Buffers of one name are one buffer: a case starts with what those before it left, unless it says
/// itself how an output starts. The trace is {"stages": [the trace of each]}; `launch` counts
/// through all. Whether an output is written whole is told of the last case that has it; never of
/// `scratch`.
base::Result<Report> check_sequence(const toolchain::Builder& builder,
                                    const std::vector<Case>& cases,
                                    const std::set<std::string>& scratch,
                                    const CheckOptions& options);

/// A case cut where the function constants change.
base::Result<Report> check_stages(const toolchain::Builder& builder, const Case& all,
                                  const CheckOptions& options);

}  // namespace ksearch::simt
