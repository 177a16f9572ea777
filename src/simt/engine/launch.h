// What a job says of a CUDA launch: values of parameters, variables in device memory.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "simt/engine/machine.h"

namespace ksearch::simt {

/// Room behind the buffers for the object's variables, whose sizes it tells when it is loaded.
inline constexpr std::size_t kSymbolRoom = 16 << 20;

/// Puts the values of `launch` into the plan.
void read_values(const base::Json& launch, const SharedState& shared, GroupPlan& plan);

/// Whether buffers and values are those of the kernel's parameters.
base::Result<void> fit_cuda(const base::Json& launch, GroupPlan& plan);

/// Where the object's variables lie: in a buffer of the job that is named so, or in the room, as
/// the file has them; the latter are returned, for all who look at buffers.
base::Result<std::vector<PlacedBuffer>> place_symbols(const ks::Attachment& object,
                                                      const base::Json& buffers,
                                                      SharedState& shared);

}  // namespace ksearch::simt
