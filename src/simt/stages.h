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

/// What is wanted of one case of a sequence that is traced.
struct TracedStage {
  bool trace = true;
  bool whole = false;  ///< run in full, unwatched, so that those after it see what it leaves
};
/// The traces of those cases for which one is wanted (null for the others), each from a sample of
/// `options.trace_groups` groups. What no case before left starts as zeros.
base::Result<std::vector<base::Json>> trace_sequence(const toolchain::Builder& builder,
                                                     const std::vector<Case>& cases,
                                                     const std::vector<TracedStage>& stages,
                                                     CheckOptions options);

/// A case cut where the function constants change.
base::Result<Report> check_stages(const toolchain::Builder& builder, const Case& all,
                                  const CheckOptions& options);

}  // namespace ksearch::simt
