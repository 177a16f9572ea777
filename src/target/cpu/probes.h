// The small programs that measure this machine's ceilings: dialect `cpp`, built and run like any
// candidate, so that they are held to the same clock and the same sandbox.
#pragma once

#include <cstdint>

#include "kernel/bind.h"
#include "kernel/program.h"
#include "target/target.h"

namespace ksearch::target {

/// A probe: its program, its plan, what one call does.
struct Probe {
  kernel::Program program;
  std::vector<kernel::BoundProgram> plans;  ///< one
  std::vector<TensorShape> tensors;
  double flops = 0;
  double bytes = 0;
};

/// Independent fused multiply-adds in registers, one group a thread.
Probe fma_probe(int threads, std::int64_t iterations, std::int64_t simd_width);
/// The same for bfloat16 in the matrix unit.
Probe matrix_probe(int threads, std::int64_t iterations);
/// Reads half of the working set and writes the other half, `repeats` times. `streaming`: with
/// stores that pass the caches by.
Probe copy_probe(int threads, std::int64_t working_set_bytes, std::int64_t repeats, bool streaming);

}  // namespace ksearch::target
