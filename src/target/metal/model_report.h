// What the time model tells an engineer of a launch: where its time goes, by line and by kind.
#pragma once

#include "target/metal/time_model.h"

namespace ksearch::target {

/// Terms overlap, the more the further they are apart: a launch's time is this norm of them.
inline constexpr double kTermNorm = 5;
/// Registers of 16 bits that a thread of these GPUs can have.
inline constexpr double kMostRegisters = 256;

/// Of a trace, whose parts may be missing: 0, or an empty one.
double number(const base::Json& json, const char* key);
const base::Json& part(const base::Json& json, const char* key);

/// By line of the source, three at most. `memory`: of what is moved, not of what is issued.
std::vector<LineCost> largest_costs(const GpuProfile& gpu, const base::Json& trace, bool memory);
/// Of issue by kind of operation, the largest first, from 1% on.
std::vector<std::pair<std::string, double>> issue_shares(const GpuProfile& gpu,
                                                         const base::Json& trace);

}  // namespace ksearch::target
