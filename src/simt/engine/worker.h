// The process that runs foreign kernels: reads a job, loads the object, runs the launches, says
// what it saw. Started confined by `check`; what it says is looked at as text only.
//
//   argv: ... worker simt      descriptor 4: shared memory with the buffers, 5: with the job (JSON)
//   standard output, last line: {"findings": [...], "trace": {...}}  or  {"failed": why}
#pragma once

namespace ksearch::simt {

inline constexpr int kMemoryDescriptor = 4, kJobDescriptor = 5;

/// Exit code 0 where a report was printed.
int run_simt_worker();

}  // namespace ksearch::simt
