// A recorded run again: what was measured, and when, is the journal's; what planner and coder say
// is made anew from what they are asked, and must be what the journal has.
#pragma once

#include <cstddef>
#include <string>

#include "engineer/engineer.h"
#include "store/run.h"

namespace ksearch::search {

struct Rerun {
  std::size_t told = 0;     ///< lines of the journal that were told
  std::size_t thought = 0;  ///< of them answers of planner and coder
  /// Where journal and rerun part, and how; empty: they are the same, byte for byte (the tree's
  /// snapshot too, where the run has ended).
  std::string difference;
  /// What the journal lacks of a whole run; empty: nothing.
  std::string missing;
};

/// Stops at the first difference. An error: the journal cannot be read, or nothing was told in it.
base::Result<Rerun> rerun(const store::RunData& data, const kernel::Definition& definition,
                          engineer::Planner& planner, engineer::Coder& coder);

}  // namespace ksearch::search
