// What the process that runs a kernel is told: launches, buffers, limits, as JSON.
#pragma once

#include <filesystem>

#include "simt/check.h"
#include "simt/shared_buffers.h"

namespace ksearch::simt {

struct JobExtras {
  bool locked = true;  ///< the process may lock its system calls
  base::Json trace;    ///< what is counted; null: nothing
};
base::Json job_json(const Case& all, const std::filesystem::path& object,
                    const SharedBuffers& shared, const CheckOptions& options,
                    const JobExtras& extras);

}  // namespace ksearch::simt
