// Which values of a function are alive at the same time.
#pragma once

#include "simt/ir/module.h"

namespace ksearch::simt::ir {

/// The width of those that are alive at the worst place, in registers of 16 bits. Values that are
/// the same in all threads of a SIMD-group do not count: they have registers of their own.
int most_alive(const Module& module, const Function& function);

}  // namespace ksearch::simt::ir
