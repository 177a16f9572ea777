// What is wrong with outputs once all launches have run.
#pragma once

#include <vector>

#include "simt/engine/finding.h"
#include "simt/engine/shared.h"

namespace ksearch::simt {

/// Elements that were never written, undefined values that were. `buffers`: as they were used.
void check_outputs(SharedState& shared, const std::vector<PlacedBuffer>& buffers,
                   Findings& findings);

/// Bytes of the buffer that were read and written at least once, those that cases before wrote and
/// this one did not, and those nobody could watch.
struct Touched {
  std::uint64_t read = 0, written = 0, before = 0, unwatched = 0;
};
Touched touched(const SharedState& shared, const PlacedBuffer& buffer);

}  // namespace ksearch::simt
