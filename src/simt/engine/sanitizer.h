// What AddressSanitizer has to be told of stacks that are left without a return. Nothing else.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace ksearch::simt {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// No frame is left in these bytes.
inline void forget_frames([[maybe_unused]] void* from, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(from, bytes);
#endif
}

}  // namespace ksearch::simt
