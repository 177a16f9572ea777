// Start contents of buffers: computed in float64, then rounded to the dtype; the random kinds need
// no state, so element i is the same in every program.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "simt/case.h"

namespace ksearch::simt {

/// Draw `k` of element `i`: 64 bits.
std::uint64_t draw(std::uint64_t seed, std::uint64_t i, std::uint64_t k);

/// The element as it lies in memory, rounded once.
std::string encode(kernel::DType type, double value);

/// Writes buffer.elements() elements. An error where a list has another number of them. Nothing is
/// written where the buffer has no start contents.
base::Result<void> fill(const Buffer& buffer, std::span<std::byte> bytes);

}  // namespace ksearch::simt
