// The swizzles of vectors (v.xyz, v.wx, v.rg) as text of ks_swizzle.h: some 700 properties, written
// rather than kept.
#pragma once

#include <string>

namespace ksearch::simt::msl {

/// Macros KS_SWIZZLES_2, _3 and _4, to stand inside vec_storage<T, n>.
std::string swizzle_header();

}  // namespace ksearch::simt::msl
