// Leave-one-out: the winner with one step of its path switched off, where the catalog says how.
#pragma once

#include <string>
#include <vector>

#include "engineer/catalog.h"
#include "kernel/program.h"

namespace ksearch::report {

struct Variant {
  std::string left_out;     ///< the step
  kernel::Program program;  ///< the winner with that step's defines overridden
};

/// One variant for each step of `path` (node ids from the root to the winner) that the winner's
/// step.json can leave out. Empty where the winner is no catalog step. An override of a define that
/// the program does not have is an error naming it.
base::Result<std::vector<Variant>> leave_one_out(const engineer::Catalog& catalog,
                                                 const std::vector<std::string>& path,
                                                 const kernel::Program& winner);

}  // namespace ksearch::report
