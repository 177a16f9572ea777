// Where a kernel's object keeps what ties it to the engine, and how the definedness of values is
// carried along where a kernel is watched (KS_TRACED): ks_library.h has what clang's
// instrumentation calls. Nothing here is instrumented itself.
#pragma once
#include "ks_abi.h"

#define KS_PLAIN                                    \
  __attribute__((disable_sanitizer_instrumentation, \
                 no_sanitize("alignment", "array-bounds", "local-bounds")))
#define KS_HOOK extern "C" KS_PLAIN __attribute__((noinline, used))
#define KS_HERE __builtin_return_address(0)
/// Before an instance of a template that is compiled once for all kernels.
#ifdef KS_LIBRARY
#define KS_ONCE template
#else
#define KS_ONCE extern template
#endif
#define KS_IN_LINE __attribute__((always_inline))
#if KS_TRACED
/// For small functions on the engine's own data, which nobody is to watch.
#define KS_UNWATCHED KS_PLAIN __attribute__((noinline)) inline
#else
#define KS_UNWATCHED __attribute__((always_inline)) inline
#endif

namespace ks {

/// Initialisers of a kernel's constants run before there is an engine: all they use is defined.
struct Idle {
  static constexpr u64 kWidest = 4096;
  inline static char zeros[kWidest], waste[kWidest];
  KS_PLAIN static Meta load(const void*, u64, const void*) { return {zeros, zeros}; }
  KS_PLAIN static Meta store(void*, u64, const void*) { return {waste, waste}; }
  KS_PLAIN static void copy(void* to, const void* from, u64 bytes, const void*) {
    __builtin_memmove(to, from, bytes);
  }
  KS_PLAIN static void fill(void* to, int byte, u64 bytes, const void*) {
    __builtin_memset(to, byte, bytes);
  }
  KS_PLAIN static void undefined(u32, const void*) {}
  KS_PLAIN static void misaligned(const void*, u64, const void*) {}
  KS_PLAIN static void outside(const void*) {}
  KS_PLAIN static void trace(const void*, u32, u64, bool) {}
};
inline constexpr Engine kIdle{Idle::load,      Idle::store,      Idle::copy,    Idle::fill,
                              Idle::undefined, Idle::misaligned, Idle::outside, nullptr,
                              nullptr,         nullptr,          nullptr,       nullptr,
                              Idle::trace,     nullptr};

inline const Engine* engine = &kIdle;
inline PrivateMemory private_memory;
inline char idle_call_state[8192];
// One of each for every OS thread. Lanes never change theirs.
inline constinit thread_local Lane* lane = nullptr;
inline constinit thread_local void* call_state = nullptr;

KS_UNWATCHED Lane* this_lane() { return lane; }
KS_UNWATCHED const Engine* this_engine() { return engine; }

}  // namespace ks

#if KS_TRACED

namespace ks {

/// Where clang's instrumentation passes the definedness of arguments and of what is returned:
/// kmsan_context_state. An argument of up to eight bytes has eight.
struct CallState {
  u64 arguments[100];
  u64 returned;
  char others[2400];  // more of what is returned, variable arguments
  u32 argument_origins[200];
  u32 returned_origin;
};
static_assert(__builtin_offsetof(CallState, argument_origins) == 4 * 800 + 8);

__attribute__((always_inline)) KS_PLAIN inline bool own(const void* at, u64& offset) {
  offset = u64(at) - private_memory.begin;
  return offset < private_memory.bytes;
}
__attribute__((always_inline)) KS_PLAIN inline Meta own_meta(u64 offset) {
  return {private_memory.shadow + offset, private_memory.origin + (offset & ~3ul)};
}

/// Whether what all 32 lanes posted is defined, and was posted in words.
KS_PLAIN inline bool all_defined(Post* const* lanes) {
  bool all = true;
  for (u32 l = 0; l < 32; ++l) all &= lanes[l]->clean;
  return all;
}
KS_PLAIN inline void define(void* at, u64 bytes) {
  __builtin_memset(private_memory.shadow + (u64(at) - private_memory.begin), 0, bytes);
}

}  // namespace ks

#else

namespace ks {

inline bool all_defined(Post* const*) { return true; }
inline void define(void*, u64) {}

}  // namespace ks

#endif  // KS_TRACED
