// The `prepare` message of a CPU worker: a bound plan as offsets, and where scratch and group
// memory lie in the worker's own memory. The counterpart of plan_runner.h.
#pragma once

#include <variant>

#include "target/cpu/entry_points.h"
#include "target/process_worker.h"

namespace ksearch::target {

/// `objects` is what was built; `workers` the number of threads. A plan that needs an object that
/// was not built is Unsupported.
std::variant<Preparation, kernel::Verdict> plan_message(const Job& job, const Arena& set,
                                                        const std::vector<ObjectPlan>& objects,
                                                        int workers);

/// {"bytes":.., "guards":[[offset, bytes], ..], "touch":[..]} of `copies` arenas, one after
/// another.
base::Json mapping_json(const Arena& arena, int copies);

}  // namespace ksearch::target
